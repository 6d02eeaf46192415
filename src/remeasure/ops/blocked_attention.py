"""The same attention one sequence at a time, for training on a CPU.

A batch of scores, [64, 4, 128, 128] at the chapter's budget, leaves every cache, is copied several
times, and autograd goes over all of it again on the way back. The scores of one sequence stay in
the cache until they are done with; only the weights are kept, for the gradient, which is written
out here. It computes what `ops.attention.attention` computes, to rounding.

Shapes: B batch, H heads, T query positions, S key positions (S >= T; the queries are the last T of
them), K head width.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from remeasure.ops.attention import forbidden

FEWEST_SCORES = 32 * 1024
"""Scores of one sequence, all heads. Below, starting kernels costs more than the cache saves:
measured from 16 to 128 tokens, one head and four."""


def pays_off(query_BHTK: Tensor, key_BHSK: Tensor) -> bool:
    """Whether this form is the faster one here: gradients wanted, on a CPU, enough scores."""
    _, n_heads, n_queries, _ = query_BHTK.shape
    enough = n_heads * n_queries * key_BHSK.shape[2] >= FEWEST_SCORES
    return query_BHTK.requires_grad and query_BHTK.device.type == "cpu" and enough


def blocked_attention(
    query_BHTK: Tensor,
    key_BHSK: Tensor,
    value_BHSK: Tensor,
    *,
    scale: bool = True,
    bias_HTS: Tensor | None = None,
    causal: bool = True,
) -> Tensor:
    """Each query's weighted average of the values, [B, H, T, K]; laid out as [B, T, H, K].

    Differentiable once in query, key and value; `bias_HTS` is taken as fixed.
    """
    n_heads, n_queries, width = query_BHTK.shape[1:]
    added_HTS = query_BHTK.new_zeros(1, n_queries, key_BHSK.shape[2])
    if bias_HTS is not None:
        added_HTS = added_HTS + bias_HTS
    if causal:
        mask_TS = forbidden(*added_HTS.shape[-2:], device=added_HTS.device)
        added_HTS = added_HTS.masked_fill(mask_TS, float("-inf"))
    factor = 1 / math.sqrt(width) if scale else 1.0
    mixed_BHTK: Tensor = _BlockedAttention.apply(  # type: ignore[no-untyped-call]
        query_BHTK, key_BHSK, value_BHSK, added_HTS.expand(n_heads, -1, -1), factor
    )
    return mixed_BHTK


class _BlockedAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        query_BHTK: Tensor,
        key_BHSK: Tensor,
        value_BHSK: Tensor,
        added_HTS: Tensor,
        factor: float,
    ) -> Tensor:
        mixed_BHTK = _by_position(query_BHTK)
        weights_BHTS = query_BHTK.new_empty(len(query_BHTK), *added_HTS.shape)
        scores_HTS = query_BHTK.new_empty(added_HTS.shape)
        for query_HTK, key_HSK, value_HSK, weights_HTS, mixed_HTK in zip(
            query_BHTK, key_BHSK, value_BHSK, weights_BHTS, mixed_BHTK, strict=True
        ):
            key_HKS = key_HSK.transpose(-2, -1)
            torch.baddbmm(added_HTS, query_HTK, key_HKS, alpha=factor, out=scores_HTS)
            torch.softmax(scores_HTS, -1, out=weights_HTS)
            torch.bmm(weights_HTS, value_HSK, out=mixed_HTK)
        ctx.save_for_backward(query_BHTK, key_BHSK, value_BHSK, weights_BHTS, mixed_BHTK)
        ctx.factor = factor
        return mixed_BHTK

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_BHTK: Tensor) -> tuple[Tensor | None, ...]:
        query_BHTK, key_BHSK, value_BHSK, weights_BHTS, mixed_BHTK = ctx.saved_tensors
        grads = [_by_position(tensor) for tensor in (query_BHTK, key_BHSK, value_BHSK)]
        grad_scores_HTS = weights_BHTS.new_empty(weights_BHTS.shape[1:])
        for query_HTK, key_HSK, value_HSK, weights_HTS, mixed_HTK, grad_HTK, *written in zip(
            *(query_BHTK, key_BHSK, value_BHSK, weights_BHTS, mixed_BHTK, grad_BHTK, *grads),
            strict=True,
        ):
            grad_query_HTK, grad_key_HSK, grad_value_HSK = written
            torch.bmm(weights_HTS.transpose(-2, -1), grad_HTK, out=grad_value_HSK)
            torch.bmm(grad_HTK, value_HSK.transpose(-2, -1), out=grad_scores_HTS)
            # The softmax's gradient: w (g - sum of w g), and that sum is the output's own with g.
            shared_HT1 = (grad_HTK * mixed_HTK).sum(-1, keepdim=True)
            grad_scores_HTS.sub_(shared_HT1).mul_(weights_HTS).mul_(ctx.factor)
            torch.bmm(grad_scores_HTS, key_HSK, out=grad_query_HTK)
            torch.bmm(grad_scores_HTS.transpose(-2, -1), query_HTK, out=grad_key_HSK)
        return (*grads, None, None)


def _by_position(like_BHTK: Tensor) -> Tensor:
    """Room for [B, H, T, K] whose heads lie side by side at each position, as the layers want."""
    batch, n_heads, length, width = like_BHTK.shape
    return like_BHTK.new_empty(batch, length, n_heads, width).transpose(1, 2)
