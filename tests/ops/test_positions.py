"""Sinusoids, RoPE and ALiBi against scalar code written from their papers."""

import cmath
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from remeasure.ops.positions import alibi_bias, alibi_slopes, rotate, sinusoids


def test_sinusoids_are_the_papers() -> None:
    table = sinusoids(50, 12)
    for position in (0, 1, 17, 49):
        for pair in range(6):
            angle = position / 10000 ** (2 * pair / 12)
            assert table[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_rope_is_multiplication_by_a_complex_number() -> None:
    x = torch.randn(9, 8, dtype=torch.float64)
    turned = rotate(x, 5)
    for row in range(9):
        for pair in range(4):
            factor = cmath.exp(1j * (row + 5) * 10000 ** (-2 * pair / 8))
            expected = complex(x[row, 2 * pair], x[row, 2 * pair + 1]) * factor
            assert turned[row, 2 * pair].item() == pytest.approx(expected.real, abs=1e-12)
            assert turned[row, 2 * pair + 1].item() == pytest.approx(expected.imag, abs=1e-12)


@given(shift=st.integers(0, 3000), query_at=st.integers(0, 200), key_at=st.integers(0, 200))
@settings(max_examples=50, deadline=None)
def test_rope_scores_depend_on_the_distance_only(shift: int, query_at: int, key_at: int) -> None:
    query, key = torch.randn(2, 1, 6, dtype=torch.float64)
    here = rotate(query, query_at) @ rotate(key, key_at).T
    there = rotate(query, query_at + shift) @ rotate(key, key_at + shift).T
    torch.testing.assert_close(here, there)


def test_alibi_slopes_of_eight_heads_are_the_papers() -> None:
    assert alibi_slopes(8).tolist() == [2**-power for power in range(1, 9)]


def test_alibi_slopes_of_twelve_heads_interleave_those_of_sixteen() -> None:
    expected = [2**-power for power in range(1, 9)] + [2 ** -(power + 0.5) for power in range(4)]
    assert alibi_slopes(12).tolist() == pytest.approx(expected)


def test_alibi_lowers_the_score_of_what_is_far() -> None:
    bias = alibi_bias(4, 3, 5)
    assert bias.shape == (4, 3, 5)
    for head, slope in enumerate(alibi_slopes(4).tolist()):
        for row in range(3):
            for key in range(5):
                assert bias[head, row, key].item() == pytest.approx(-slope * (row + 2 - key))


def test_odd_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="even"):
        sinusoids(4, 5)
    with pytest.raises(ValueError, match="even"):
        rotate(torch.zeros(2, 3), 0)
