"""Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1), written out.

Shapes: B batch, H heads, T query positions, S key positions (S >= T; the queries are the last T of
them), K head width.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F


def forbidden(n_queries: int, n_keys: int, *, device: torch.device | None = None) -> Tensor:
    """True where a query may not look, [T, S]: at keys that come after it (the causal mask)."""
    ones_TS = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device)
    return ones_TS.triu(n_keys - n_queries + 1)


def scores(
    query_BHTK: Tensor,
    key_BHSK: Tensor,
    *,
    scale: bool = True,
    bias_HTS: Tensor | None = None,
    causal: bool = True,
) -> Tensor:
    """What enters the softmax, [B, H, T, S]: q.k, divided by sqrt(K) if `scale`, plus `bias_HTS`.

    Where the causal mask forbids, the score is -inf, which the softmax sends to exactly zero.
    """
    factor = 1 / math.sqrt(query_BHTK.shape[-1]) if scale else 1.0
    scores_BHTS = (query_BHTK * factor) @ key_BHSK.transpose(-2, -1)
    if bias_HTS is not None:
        scores_BHTS = scores_BHTS + bias_HTS
    if causal:
        mask_TS = forbidden(*scores_BHTS.shape[-2:], device=scores_BHTS.device)
        scores_BHTS = scores_BHTS.masked_fill(mask_TS, float("-inf"))
    return scores_BHTS


def attention(
    query_BHTK: Tensor,
    key_BHSK: Tensor,
    value_BHSK: Tensor,
    *,
    scale: bool = True,
    bias_HTS: Tensor | None = None,
    causal: bool = True,
    dropout: float = 0.0,
) -> Tensor:
    """Each query's weighted average of the values, [B, H, T, K].

    `dropout` is the probability with which a weight is dropped after the softmax.
    """
    weights_BHTS = scores(
        query_BHTK, key_BHSK, scale=scale, bias_HTS=bias_HTS, causal=causal
    ).softmax(-1)
    if dropout:
        weights_BHTS = F.dropout(weights_BHTS, dropout)
    return weights_BHTS @ value_BHSK
