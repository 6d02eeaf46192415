"""The formulas of the papers, held against facts of their own, and against broken encodings."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from remeasure.ops import positions
from remeasure.probes import position_definitions


def test_only_float32_rounding_is_left(small_settings: Callable[..., Any]) -> None:
    record = position_definitions.measure(small_settings("position_definitions"))
    for name in ("sinusoidal", "alibi", "rope"):
        assert record[name]["max_diff"] <= 2e-7 * max(1.0, record[name]["largest"])
        assert record[name]["largest"] > 0.9


def test_slopes_that_the_paper_and_its_code_name() -> None:
    slopes = position_definitions._slopes_by_definition
    assert slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert slopes(12) == pytest.approx([*slopes(8), 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5])


def test_rope_turns_the_first_pair_by_one_radian_a_position() -> None:
    turned_TK = position_definitions._rope_by_definition(torch.tensor([[1.0, 0.0]] * 3))
    angles_T = torch.arange(3).double()
    assert torch.allclose(turned_TK, torch.stack([angles_T.cos(), angles_T.sin()], dim=1))


def _cosines_first(n_positions: int, d_model: int) -> Tensor:
    table_PD = positions.sinusoids(n_positions, d_model)
    return table_PD.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def _reward_for_distance(n_heads: int, n_queries: int, n_keys: int) -> Tensor:
    return -positions.alibi_bias(n_heads, n_queries, n_keys)


def _halves(x_TK: Tensor, first_position: int) -> Tensor:
    apart = x_TK.unflatten(-1, (2, -1)).transpose(-2, -1).flatten(-2)
    return positions.rotate(apart, first_position)


@pytest.mark.parametrize(
    ("function", "broken", "encoding"),
    [
        ("sinusoids", _cosines_first, "sinusoidal"),
        ("alibi_bias", _reward_for_distance, "alibi"),
        ("rotate", _halves, "rope"),
    ],
)
def test_a_broken_encoding_shows(
    small_settings: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    broken: Callable[..., Tensor],
    encoding: str,
) -> None:
    monkeypatch.setattr(position_definitions, function, broken)
    record = position_definitions.measure(small_settings("position_definitions"))
    assert record[encoding]["max_diff"] > 0.1
