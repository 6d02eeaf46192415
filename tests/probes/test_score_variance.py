"""The variance of a dot product is the width, and that of a divided one is not mistaken for it."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from remeasure.probes import score_variance
from remeasure.probes.random_scores import random_scores


def test_variance_is_the_width(small_settings: Callable[..., Any]) -> None:
    record = score_variance.measure(small_settings("score_variance"))
    assert list(record["widths"]) == ["4", "64"]
    for width, found in record["widths"].items():
        assert found["variance"] == pytest.approx(int(width), rel=0.15)
        assert found["std"] == math.sqrt(found["variance"])
        assert found["sqrt_d"] ** 2 == int(width)


def test_variance_is_the_sample_variance_of_the_pairs(small_settings: Callable[..., Any]) -> None:
    record = score_variance.measure(small_settings("score_variance", widths=[3], pairs=50))
    scores = random_scores(3, 50, 1, 1)["undivided"][:, 0].tolist()
    mean = math.fsum(scores) / 50
    expected = math.fsum((score - mean) ** 2 for score in scores) / 49
    assert record["widths"]["3"]["variance"] == pytest.approx(expected, rel=1e-6)
