"""What attention cannot see: order without mask and positions, absolute position with RoPE.

Section: positions. Shapes: T tokens, S tokens with others before them, D width, H heads, K head
width; one window, so the batch is 1.
"""

from typing import Any

import torch
from torch import Tensor

from remeasure.models.build import build
from remeasure.models.mixers import attention_layers
from remeasure.ops.attention import attention
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.probes import SymmetrySettings
from remeasure.records.protocol import protocol
from remeasure.training.seeds import generator, global_seed


def measure(settings: SymmetrySettings) -> dict[str, Any]:
    """Largest differences in float32, each of which rounding alone should explain.

    `permutation_equivariance`: a model without mask and positions reads a window of different
    tokens and the same window permuted. `set_operation`: keys and values permuted together.
    `rope_relative`: scores of the same vectors at the start and further back. `order_matters` is
    the control: the first comparison again on models that do have an order, which must differ.
    """
    ordered = {name: _permuted_diff(spec, settings.seed) for name, spec in settings.ordered.items()}
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "permutation_equivariance": {"max_diff": _permuted_diff(settings.unordered, settings.seed)},
        "set_operation": {"max_diff": _set_diff(settings.unordered, settings.seed)},
        "rope_relative": {
            "max_diff": max(
                _offset_diff(settings.rope, offset, settings.seed) for offset in settings.offsets
            )
        },
        "order_matters": {"min_diff": min(ordered.values()), "max_diff_by": ordered},
    }


@torch.no_grad()
def _permuted_diff(spec: ModelSpec, seed: int) -> float:
    """Largest |f(permuted window) - permuted f(window)| in the features; no token occurs twice."""
    with global_seed(seed, "initialisation"):
        model = build(spec, vocab_size=spec.context).eval()
    order_T = torch.randperm(spec.context, generator=generator(seed, "permutation"))
    ids_T = torch.arange(spec.context)
    plain_TD, permuted_TD = model.features(ids_T[None])[0], model.features(ids_T[order_T][None])[0]
    return float((permuted_TD - plain_TD[order_T]).abs().max())


def _set_diff(spec: ModelSpec, seed: int) -> float:
    random = generator(seed, "set")
    shape = (3, 1, spec.n_heads, spec.context, spec.head_width)
    query_BHTK, key_BHTK, value_BHTK = torch.randn(shape, generator=random).unbind(0)
    order_T = torch.randperm(spec.context, generator=random)
    plain_BHTK = attention(query_BHTK, key_BHTK, value_BHTK, causal=False)
    shuffled_BHTK = attention(
        query_BHTK, key_BHTK[..., order_T, :], value_BHTK[..., order_T, :], causal=False
    )
    return float((plain_BHTK - shuffled_BHTK).abs().max())


@torch.no_grad()
def _offset_diff(spec: ModelSpec, offset: int, seed: int) -> float:
    """How far a layer's scores among the same vectors move when `offset` others come first."""
    with global_seed(seed, "initialisation"):
        layer = attention_layers(build(spec, vocab_size=1))[0]
    random = generator(seed, "offset")
    x_BTD = torch.randn(1, spec.context, spec.d_model, generator=random)
    before_BTD = torch.randn(1, offset, spec.d_model, generator=random)
    at_start_HTT = layer.scores(x_BTD)[0]
    behind_HSS: Tensor = layer.scores(torch.cat([before_BTD, x_BTD], dim=1))[0]
    return float((behind_HSS[:, offset:, offset:] - at_start_HTT).abs().max())
