"""The trace against autograd's Jacobian, frozen rows counted one by one."""

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from remeasure.probes import softmax_jacobian
from remeasure.probes.random_scores import random_scores


def _softmax(scores_S: Tensor) -> Tensor:
    return scores_S.softmax(0)


def test_rows_one_by_one(small_settings: Callable[..., Any]) -> None:
    record = softmax_jacobian.measure(small_settings("softmax_jacobian", rows=40))
    for width, found in record["widths"].items():
        for name, scores_RS in random_scores(int(width), 40, 16, 1).items():
            traces, frozen, effective = [], 0, []
            for scores_S in scores_RS.double():
                jacobian_SS = torch.func.jacrev(_softmax)(scores_S)
                traces.append(jacobian_SS.trace().item())
                weights = _softmax(scores_S).tolist()
                frozen += max(weights) > 0.99
                entropy = -math.fsum(weight * math.log(weight) for weight in weights if weight)
                effective.append(math.exp(entropy))
            assert found[name]["trace"] == pytest.approx(statistics.fmean(traces), abs=1e-5)
            assert found[name]["frozen_rows"] == frozen / 40
            mean, median = statistics.fmean(effective), statistics.median_low(effective)
            assert found[name]["effective_tokens"] == pytest.approx(
                {"mean": mean, "median": median}, rel=1e-4
            )


def test_flat_if_divided_and_falling_if_not(small_settings: Callable[..., Any]) -> None:
    widths = softmax_jacobian.measure(small_settings("softmax_jacobian", tokens=64))["widths"]
    for found in widths.values():
        # What a row of 64 standard normal scores has in expectation, to first order.
        assert found["divided"]["trace"] == pytest.approx(1 - math.e / 64, abs=0.01)
        assert found["divided"]["frozen_rows"] == 0
    assert widths["256"]["undivided"]["frozen_rows"] > 0.3
    assert widths["256"]["undivided"]["trace"] < widths["4"]["undivided"]["trace"] / 3
