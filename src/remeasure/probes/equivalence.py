"""Our attention layer against PyTorch's two, with the weights of torch.nn.MultiheadAttention.

Section: the implementation. Shapes: B batch, T tokens, D width, H heads, K head width.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from remeasure.models.mixers import SelfAttention
from remeasure.params.digest import settings_digest
from remeasure.params.probes import EquivalenceSettings
from remeasure.records.protocol import protocol
from remeasure.training.seeds import generator, global_seed


@torch.no_grad()
def measure(settings: EquivalenceSettings) -> dict[str, Any]:
    """Largest differences in float32 under the causal mask; `mean_magnitude` is that of our output.

    The magnitude falls as windows grow: a longer average is a smaller one.
    """
    with global_seed(settings.seed, "initialisation"):
        theirs = nn.MultiheadAttention(settings.d_model, settings.n_heads, batch_first=True).eval()
    shape = (settings.batch_size, settings.tokens, settings.d_model)
    x_BTD = torch.randn(shape, generator=generator(settings.seed, "input"))
    ours_BTD = with_weights_of(theirs)(x_BTD)
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "multihead_attention": {"max_diff": _largest(ours_BTD - by_module(theirs, x_BTD))},
        "scaled_dot_product_attention": {"max_diff": _largest(ours_BTD - by_kernel(theirs, x_BTD))},
        "mean_magnitude": float(ours_BTD.abs().mean()),
    }


def with_weights_of(theirs: nn.MultiheadAttention) -> SelfAttention:
    """Our causal layer with the projections of PyTorch's, biases included."""
    ours = SelfAttention(
        theirs.embed_dim,
        theirs.num_heads,
        theirs.head_dim,
        scale=True,
        causal=True,
        positions="none",
        qkv_bias=True,
        output_projection=True,
        dropout=0.0,
    ).to(theirs.in_proj_weight.dtype)
    ours.load_state_dict(
        {
            "query_key_value.weight": theirs.in_proj_weight,
            "query_key_value.bias": theirs.in_proj_bias,
            "output.weight": theirs.out_proj.weight,
            "output.bias": theirs.out_proj.bias,
        }
    )
    return ours.eval()


def by_module(theirs: nn.MultiheadAttention, x_BTD: Tensor) -> Tensor:
    """The output of torch.nn.MultiheadAttention under a causal mask, [B, T, D]."""
    tokens = x_BTD.shape[1]
    future_TT = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    mixed_BTD: Tensor = theirs(x_BTD, x_BTD, x_BTD, attn_mask=future_TT)[0]
    return mixed_BTD


def by_kernel(theirs: nn.MultiheadAttention, x_BTD: Tensor) -> Tensor:
    """The same layer through F.scaled_dot_product_attention, [B, T, D]."""
    projected = F.linear(x_BTD, theirs.in_proj_weight, theirs.in_proj_bias).chunk(3, dim=-1)
    query_BHTK, key_BHTK, value_BHTK = (
        part.unflatten(-1, (theirs.num_heads, theirs.head_dim)).transpose(1, 2)
        for part in projected
    )
    mixed_BHTK = F.scaled_dot_product_attention(query_BHTK, key_BHTK, value_BHTK, is_causal=True)
    return F.linear(
        mixed_BHTK.transpose(1, 2).flatten(2), theirs.out_proj.weight, theirs.out_proj.bias
    )


def _largest(difference: Tensor) -> float:
    return float(difference.abs().max())
