"""The three forms of the average agree, and the probe says so when they do not."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from remeasure.probes import averaging


def test_only_rounding_is_left(small_settings: Callable[..., Any]) -> None:
    record = averaging.measure(small_settings("averaging", tokens=100, d_model=30))
    for name in ("loop_vs_matmul", "loop_vs_softmax", "shuffle"):
        assert record[name]["max_diff"] <= 1e-6
    assert record["loop_vs_matmul"]["max_diff"] > 0


def test_matrix_holds_one_over_the_length_of_the_prefix(
    small_settings: Callable[..., Any],
) -> None:
    expected = [[1, 0, 0, 0], [1 / 2] * 2 + [0, 0], [1 / 3] * 3 + [0], [1 / 4] * 4]
    assert averaging.measure(small_settings("averaging"))["matrix"] == expected


def _of_the_whole_window(x_TD: Tensor) -> Tensor:
    return x_TD.mean(0, keepdim=True).expand_as(x_TD)


@pytest.mark.parametrize("form", ["average_by_matmul", "average_by_softmax"])
def test_a_form_without_the_triangle_shows(
    small_settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(averaging, form, _of_the_whole_window)
    record = averaging.measure(small_settings("averaging"))
    found = {
        name: record[name]["max_diff"] > 0.01 for name in ("loop_vs_matmul", "loop_vs_softmax")
    }
    assert found == {
        "loop_vs_matmul": form == "average_by_matmul",
        "loop_vs_softmax": form == "average_by_softmax",
    }


def test_weights_that_are_not_equal_see_the_shuffle(
    small_settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fading(length: int, *, dtype: torch.dtype | None = None) -> Tensor:
        return torch.arange(1, length + 1, dtype=dtype).expand(length, length) / length**2

    monkeypatch.setattr(averaging, "averaging_matrix", fading)
    assert averaging.measure(small_settings("averaging"))["shuffle"]["max_diff"] > 0.01
