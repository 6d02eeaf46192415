"""What counts as a difference, and the paired test against scipy's own."""

from typing import Any

import pytest
from scipy import stats

from remeasure.compare.differences import ABSENT, metrics, parameters
from remeasure.records.spread import spread


def record(**seeds: float) -> dict[str, Any]:
    """A record of one number over seeds, such as s0=1.0."""
    return {"held_out": {"perplexity": spread({int(k[1:]): v for k, v in seeds.items()})}}


def test_parameters_that_differ_by_address() -> None:
    a = {"model": {"pos": "learned", "d": 8}, "seeds": [0], "old": {"x": 1}}
    b = {"model": {"pos": "rope", "d": 8}, "seeds": [0, 1], "new": 1}
    found = [(each.address, each.a, each.b) for each in parameters(a, b)]
    assert found == [
        ("model.pos", "learned", "rope"),
        ("seeds", [0], [0, 1]),
        ("old", {"x": 1}, ABSENT),
        ("new", ABSENT, 1),
    ]


def test_true_is_not_one_and_null_is_not_absent() -> None:
    assert [each.address for each in parameters({"x": True}, {"x": 1})] == ["x"]
    assert [each.address for each in parameters({"x": None}, {})] == ["x"]
    assert parameters({"x": None}, {"x": None}) == []


def test_the_test_is_scipys_paired_one_over_the_common_seeds() -> None:
    a, b = record(s0=3.0, s1=4.5, s2=5.0, s7=99.0), record(s2=4.1, s0=2.5, s1=4.4, s8=-99.0)
    (metric,) = metrics(a, b)
    theirs = stats.ttest_rel([2.5, 4.4, 4.1], [3.0, 4.5, 5.0])
    low, high = theirs.confidence_interval(0.95)
    assert metric.common_seeds == ["0", "1", "2"]
    assert metric.test is not None
    assert metric.test.n == 3
    assert metric.test.p == pytest.approx(theirs.pvalue)
    assert metric.test.reach == pytest.approx((high - low) / 2)
    assert metric.test.difference == metric.difference == pytest.approx((low + high) / 2)


@pytest.mark.parametrize(
    ("b", "difference"), [(record(s0=2.0, s5=9.0), -1.0), (record(s8=2.0, s9=4.0), -0.75)]
)
def test_fewer_than_two_common_seeds_are_no_test(b: dict[str, Any], difference: float) -> None:
    (metric,) = metrics(record(s0=3.0, s1=4.5), b)
    assert metric.test is None
    assert metric.difference == pytest.approx(difference)


def test_equal_differences_of_all_seeds_are_certain_and_none_is_no_difference() -> None:
    (shifted,) = metrics(record(s0=1.0, s1=2.0), record(s0=2.0, s1=3.0))
    assert shifted.test is not None
    assert shifted.test.p == 0
    (equal,) = metrics(record(s0=1.0, s1=2.0), record(s0=1.0, s1=2.0))
    assert equal.same
    assert equal.test is not None
    assert equal.test.p == 1


def test_every_number_of_a_record_but_its_protocol_is_a_metric() -> None:
    a = {"protocol": {"fraction": 1.0}, "parameters": 5, "rows": [1.0, {"x": 2}], "name": "n"}
    found = metrics(a, {"parameters": 5, "more": 1.5, "flag": True})
    assert [each.address for each in found] == ["parameters", "rows.0", "rows.1.x", "more"]
    assert [each.same for each in found] == [True, False, False, False]
    assert found[1].difference is None
