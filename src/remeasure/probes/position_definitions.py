"""Sinusoids, ALiBi and RoPE against their papers' formulas, written out one number at a time.

Section: positions. Shapes: T positions, D model width, H heads, K head width.
"""

import cmath
import math
from typing import Any

import torch
from torch import Tensor

from remeasure.ops.positions import alibi_bias, rotate, sinusoids
from remeasure.params.digest import settings_digest
from remeasure.params.probes import PositionDefinitionsSettings
from remeasure.records.protocol import protocol
from remeasure.training.seeds import generator


def measure(settings: PositionDefinitionsSettings) -> dict[str, Any]:
    """For each encoding the largest difference from its paper, and the largest value compared.

    The library computes in float32, the formulas here in Python's double precision.
    """
    tokens, random = settings.tokens, generator(settings.seed, "rope")
    vectors_TK = torch.randn(tokens, settings.head_width, generator=random)
    alibi = [
        (alibi_bias(heads, tokens, tokens), _alibi_by_definition(heads, tokens))
        for heads in settings.heads
    ]
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "sinusoidal": _compared(
            [
                (
                    sinusoids(tokens, settings.d_model),
                    _sinusoids_by_definition(tokens, settings.d_model),
                )
            ]
        ),
        "alibi": _compared(alibi),
        "rope": _compared([(rotate(vectors_TK, 0), _rope_by_definition(vectors_TK))]),
    }


def _compared(pairs: list[tuple[Tensor, Tensor]]) -> dict[str, float]:
    return {
        "max_diff": max(float((ours.double() - theirs).abs().max()) for ours, theirs in pairs),
        "largest": max(float(theirs.abs().max()) for _, theirs in pairs),
    }


def _sinusoids_by_definition(n_positions: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) the cosine: Vaswani et al. 2017, 3.5."""

    def entry(position: int, column: int) -> float:
        angle = position / math.pow(10000, (column - column % 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    rows = [
        [entry(position, column) for column in range(d_model)] for position in range(n_positions)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def _alibi_by_definition(n_heads: int, n_positions: int) -> Tensor:
    """-m (t - i), m by head: Press, Smith and Lewis 2022, section 3, and their released code."""
    slopes = _slopes_by_definition(n_heads)
    bias = [
        [[-slope * (t - i) for i in range(n_positions)] for t in range(n_positions)]
        for slope in slopes
    ]
    return torch.tensor(bias, dtype=torch.float64)


def _slopes_by_definition(n_heads: int) -> list[float]:
    exponent = math.floor(math.log2(n_heads))
    if 2**exponent == n_heads:
        # The geometric sequence that starts at 2^(-8/n) and has that as its ratio.
        start = 2 ** (-8 / n_heads)
        return [start**power for power in range(1, n_heads + 1)]
    doubled = _slopes_by_definition(2 ** (exponent + 1))
    return (_slopes_by_definition(2**exponent) + doubled[0::2])[:n_heads]


def _rope_by_definition(vectors_TK: Tensor) -> Tensor:
    """Each pair of columns as a complex number times e^(i m theta_j): Su et al. 2021, 3.2, 3.4."""
    width = vectors_TK.shape[-1]
    turned = []
    for position, row in enumerate(vectors_TK.tolist()):
        turned_row = []
        for j in range(1, width // 2 + 1):
            theta = 10000 ** (-2 * (j - 1) / width)
            pair = complex(row[2 * j - 2], row[2 * j - 1]) * cmath.exp(1j * position * theta)
            turned_row += [pair.real, pair.imag]
        turned.append(turned_row)
    return torch.tensor(turned, dtype=torch.float64)
