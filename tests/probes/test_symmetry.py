"""Attention without mask and positions sees a set; the probe sees whatever breaks that."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from remeasure.errors import ParameterError
from remeasure.models import mixers
from remeasure.ops.attention import attention
from remeasure.ops.positions import rotate
from remeasure.probes import symmetry

ROUNDING = 2e-6


def test_only_rounding_is_left_and_the_control_differs(small_settings: Callable[..., Any]) -> None:
    record = symmetry.measure(small_settings("symmetry"))
    assert record["permutation_equivariance"]["max_diff"] <= ROUNDING
    assert record["set_operation"]["max_diff"] <= ROUNDING
    assert record["rope_relative"]["max_diff"] <= ROUNDING
    by_name = record["order_matters"]["max_diff_by"]
    assert set(by_name) == {"mask", "rope"}
    assert record["order_matters"]["min_diff"] == min(by_name.values()) > 1e-3


@pytest.mark.parametrize(
    "order", [{}, {"causal": False}, {"pos": "none"}, {"causal": False, "pos": "alibi"}]
)
def test_a_model_with_an_order_is_not_equivariant(
    small_settings: Callable[..., Any], order: dict[str, Any]
) -> None:
    record = symmetry.measure(small_settings("symmetry", unordered=order))
    assert record["permutation_equivariance"]["max_diff"] > 1e-3


def test_a_control_without_order_shows(small_settings: Callable[..., Any]) -> None:
    unordered = {"causal": False, "pos": "none"}
    record = symmetry.measure(small_settings("symmetry", ordered={"nothing": unordered}))
    assert record["order_matters"]["min_diff"] <= ROUNDING


def test_values_left_in_place_show(
    small_settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_index(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
        return attention(query, key, value, causal=causal) + value

    monkeypatch.setattr(symmetry, "attention", by_index)
    assert symmetry.measure(small_settings("symmetry"))["set_operation"]["max_diff"] > 0.01


def test_scores_of_absolute_positions_show(
    small_settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stretched(x: Tensor, first_position: int) -> Tensor:
        return x * torch.arange(1, x.shape[-2] + 1)[:, None].sqrt()

    monkeypatch.setattr(mixers, "rotate", stretched)
    assert symmetry.measure(small_settings("symmetry"))["rope_relative"]["max_diff"] > 0.01


def test_the_worst_offset_counts(
    small_settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def short_of_breath(x: Tensor, first_position: int) -> Tensor:
        return torch.cat([rotate(x[..., :30, :], first_position), x[..., 30:, :]], dim=-2)

    monkeypatch.setattr(mixers, "rotate", short_of_breath)
    assert symmetry.measure(small_settings("symmetry"))["rope_relative"]["max_diff"] > 0.01


def test_rope_without_rope_is_refused(small_settings: Callable[..., Any]) -> None:
    with pytest.raises(ParameterError, match="rope needs pos rope and causal false"):
        small_settings("symmetry", rope={"causal": False, "pos": "none"})
