"""Scores of random queries and keys, the material of three probes. No probe itself.

Shapes: R rows (queries), S keys, K width.
"""

import torch
from torch import Tensor

from remeasure.ops.attention import scores
from remeasure.training.seeds import generator

ELEMENTS_AT_ONCE = 2**22
"""Random numbers held in memory at a time."""


def random_scores(width: int, n_rows: int, n_keys: int, seed: int) -> dict[str, Tensor]:
    """Rows of unmasked scores, [R, S], "divided" by sqrt(K) and "undivided", of the same draws.

    Every row has a query and keys of its own, with independent entries from N(0, 1). A width's
    draws do not depend on what other widths are measured.
    """
    random = generator(seed, f"scores of width {width}")
    parts: dict[str, list[Tensor]] = {"divided": [], "undivided": []}
    at_once = max(1, ELEMENTS_AT_ONCE // (n_keys * width))
    for start in range(0, n_rows, at_once):
        rows = min(at_once, n_rows - start)
        query_R11K = torch.randn(rows, 1, 1, width, generator=random)
        key_R1SK = torch.randn(rows, 1, n_keys, width, generator=random)
        for name, part in parts.items():
            scores_R11S = scores(query_R11K, key_R1SK, scale=name == "divided", causal=False)
            part.append(scores_R11S[:, 0, 0])
    return {name: torch.cat(part) for name, part in parts.items()}
