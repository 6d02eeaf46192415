"""One row's largest weight and effective number of tokens, computed by hand."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from remeasure.probes import softmax_row
from remeasure.probes.random_scores import random_scores


def test_a_row_by_hand(small_settings: Callable[..., Any]) -> None:
    record = softmax_row.measure(small_settings("softmax_row"))
    for width, found in record["widths"].items():
        for name, scores_1S in random_scores(int(width), 1, 16, 1).items():
            exponentials = [math.exp(score) for score in scores_1S[0].tolist()]
            weights = [value / math.fsum(exponentials) for value in exponentials]
            entropy = -math.fsum(weight * math.log(weight) for weight in weights)
            assert found[name]["largest_weight"] == pytest.approx(max(weights), abs=1e-5)
            assert found[name]["effective_tokens"] == pytest.approx(math.exp(entropy), rel=1e-4)


def test_the_division_keeps_a_wide_row_soft(small_settings: Callable[..., Any]) -> None:
    wide = softmax_row.measure(small_settings("softmax_row"))["widths"]["256"]
    assert wide["divided"]["effective_tokens"] > 2 * wide["undivided"]["effective_tokens"]


def test_the_two_ends() -> None:
    even = softmax_row._of_row(torch.zeros(8))
    hard = softmax_row._of_row(torch.tensor([500.0, 0.0, 0.0]))
    assert even == pytest.approx({"largest_weight": 1 / 8, "effective_tokens": 8})
    assert hard == {"largest_weight": 1.0, "effective_tokens": 1.0}
