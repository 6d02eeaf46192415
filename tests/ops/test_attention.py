"""Attention and averages against torch's own and against their definitions.

Shapes: B batch, H heads, T queries, S keys, K head width.
"""

import math

import pytest
import torch
from torch.nn import functional as F

from remeasure.ops.attention import attention, forbidden, scores
from remeasure.ops.averaging import (
    average_by_loop,
    average_by_matmul,
    average_by_softmax,
    averaging_matrix,
)
from remeasure.ops.blocked_attention import blocked_attention, pays_off


def heads(n_queries: int = 7, n_keys: int = 7, width: int = 4) -> tuple[torch.Tensor, ...]:
    """Query [B, H, T, K], key and value [B, H, S, K] in float64."""
    generator = torch.Generator().manual_seed(1)
    sizes = (n_queries, n_keys, n_keys)
    return tuple(
        torch.randn(2, 3, size, width, generator=generator, dtype=torch.float64) for size in sizes
    )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_equals_torch(causal: bool, scale: bool, biased: bool) -> None:
    query, key, value = heads()
    bias = torch.randn(3, 7, 7, dtype=torch.float64) if biased else None
    mask = torch.zeros(7, 7, dtype=torch.float64)
    if causal:
        mask = mask.masked_fill(torch.ones(7, 7).triu(1).bool(), -math.inf)
    theirs = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask if bias is None else mask + bias,
        scale=None if scale else 1.0,
    )  # fmt: skip
    ours = attention(query, key, value, scale=scale, bias_HTS=bias, causal=causal)
    torch.testing.assert_close(ours, theirs)


def test_division_is_by_the_root_of_the_head_width() -> None:
    query, key, _ = heads(width=16)
    divided, undivided = scores(query, key), scores(query, key, scale=False)
    allowed = divided.isfinite()
    torch.testing.assert_close(divided[allowed] * 4, undivided[allowed])


def test_weights_sum_to_one_and_vanish_on_the_future() -> None:
    query, key, _ = heads()
    weights = scores(query, key).softmax(-1)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert (weights[..., forbidden(7, 7)] == 0).all()
    assert (weights[..., ~forbidden(7, 7)] > 0).all()


def test_later_queries_see_the_same_as_in_the_whole_window() -> None:
    query, key, value = heads()
    whole = attention(query, key, value)
    last = attention(query[:, :, 5:], key, value)
    torch.testing.assert_close(last, whole[:, :, 5:])


def test_no_gradient_reaches_back_from_the_future() -> None:
    query, key, value = heads()
    value.requires_grad_()
    attention(query, key, value)[:, :, 3].sum().backward()
    assert value.grad is not None
    assert (value.grad[:, :, 4:] == 0).all()
    assert (value.grad[:, :, :4] != 0).all()


def test_dropped_weights_are_scaled_so_that_the_mean_stays() -> None:
    torch.manual_seed(0)
    query, key, _ = heads(40, 40)
    value = torch.ones(2, 3, 40, 4, dtype=torch.float64)
    dropped = attention(query, key, value, dropout=0.5)
    assert dropped.std() > 0.1
    assert dropped.mean().item() == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_blocked_form_is_the_same_function(causal: bool, scale: bool, biased: bool) -> None:
    query, key, value = (tensor.requires_grad_() for tensor in heads(n_queries=5))
    bias = torch.randn(3, 5, 7, dtype=torch.float64) if biased else None
    above = torch.randn(2, 3, 5, 4, dtype=torch.float64)
    results = []
    for form in (attention, blocked_attention):
        mixed = form(query, key, value, scale=scale, bias_HTS=bias, causal=causal)
        results.append((mixed, *torch.autograd.grad(mixed, (query, key, value), above)))
    for explicit, blocked in zip(*results, strict=True):
        torch.testing.assert_close(blocked, explicit)


def test_blocked_form_is_for_training_on_long_enough_sequences() -> None:
    def chosen(length: int, *, requires_grad: bool) -> bool:
        query = torch.zeros(2, 4, length, 8, requires_grad=requires_grad)
        return pays_off(query, query)

    assert chosen(128, requires_grad=True)
    assert not chosen(17, requires_grad=True)
    assert not chosen(128, requires_grad=False)


def test_blocked_form_has_the_gradient_that_differences_show() -> None:
    query, key, value = (tensor.requires_grad_() for tensor in heads(3, 4, 2))
    assert torch.autograd.gradcheck(blocked_attention, (query, key, value))


@pytest.mark.parametrize("form", [average_by_matmul, average_by_softmax])
def test_three_forms_of_the_average_are_one(form) -> None:  # type: ignore[no-untyped-def]
    x_BTD = torch.randn(2, 9, 5, dtype=torch.float64)
    torch.testing.assert_close(form(x_BTD), average_by_loop(x_BTD))


def test_averaging_matrix() -> None:
    matrix = averaging_matrix(6)
    assert [round(x, 3) for x in matrix[5].tolist()] == [0.167] * 6
    assert matrix[2].tolist() == pytest.approx([1 / 3] * 3 + [0] * 3)
