"""Every rule on both sides of each of its borders."""

import math
from typing import Any

import pytest

from remeasure.ledger import statistics, verdicts
from remeasure.ledger.claims import (
    AtLeast,
    AtMost,
    Difference,
    Growth,
    Magnitude,
    Order,
    Polynomial,
    Prediction,
    Ratio,
    Shape,
    Tolerance,
    Within,
)
from remeasure.ledger.values import NotMeasured
from remeasure.ledger.verdicts import Verdict
from remeasure.records.spread import spread

REPRODUCED, CLOSE, CONTRADICTED, UNDERPOWERED, _ = Verdict
SPREAD = 0.01
PLAIN = Prediction(type="prediction")
TINY = 1e-6


def seeds(*values: float) -> dict[str, Any]:
    return spread(dict(enumerate(values)))


# Equal


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (2.4250001, REPRODUCED),
        (2.4349999, REPRODUCED),
        (2.4249, CONTRADICTED),
        (2.4351, CONTRADICTED),
    ],
)
def test_equal_means_to_the_digits_printed(value: float, verdict: Verdict) -> None:
    assert verdicts.equal(2.43, 2, value).verdict == verdict


def test_a_count_is_equal_or_not() -> None:
    assert verdicts.equal(16512, 0, 16512).verdict == REPRODUCED
    assert verdicts.equal(16512, 0, 16511).verdict == CONTRADICTED
    assert verdicts.equal(16512, 0, 16513).verdict == CONTRADICTED


@pytest.mark.parametrize(
    "value",
    [[[1.0, 0.0], [0.5]], [[1.0, 0.0], [0.5, 0.51]], [[1.0, 0.0]], [1.0, 0.0], 1.0],
)
def test_a_table_is_equal_entry_by_entry(value: Any) -> None:
    printed = [[1.0, 0.0], [0.5, 0.5]]
    assert verdicts.equal(printed, 2, [[1.0, 0.0], [0.5, 0.5]]).verdict == REPRODUCED
    assert verdicts.equal(printed, 2, value).verdict == CONTRADICTED


# Polynomial, limits, growth, within, shape


def test_polynomial_holds_at_every_size_or_not_at_all() -> None:
    rule = Polynomial(type="polynomial", coefficients=(0, 13, 12))
    built = {"64": 49984, "768": 7087872}
    assert verdicts.polynomial(rule, [built]).verdict == REPRODUCED
    assert verdicts.polynomial(rule, [built | {"768": 7087871}]).verdict == CONTRADICTED
    assert verdicts.polynomial(rule, [[64, 768], [49984, 7087872]]).verdict == REPRODUCED
    assert verdicts.polynomial(rule, [[64, 768], [49983, 7087872]]).verdict == CONTRADICTED


def test_at_most_judges_the_largest_number() -> None:
    rule = AtMost(type="at_most", limit=1e-6)
    assert verdicts.at_most(rule, [1e-6]).verdict == REPRODUCED
    assert verdicts.at_most(rule, [1.0001e-6]).verdict == CONTRADICTED
    assert verdicts.at_most(rule, [seeds(1e-7, 2e-6)]).verdict == CONTRADICTED


def test_at_least_judges_the_smallest_number() -> None:
    rule = AtLeast(type="at_least", limit=2)
    assert verdicts.at_least(rule, [[2, 9]]).verdict == REPRODUCED
    assert verdicts.at_least(rule, [[1.999, 9]]).verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("rule", "last", "verdict"),
    [
        (Growth(type="growth", at_most=1.5, why="w"), 3.0, REPRODUCED),
        (Growth(type="growth", at_most=1.5, why="w"), 3.01, CONTRADICTED),
        (Growth(type="growth", at_least=3, why="w"), 6.0, REPRODUCED),
        (Growth(type="growth", at_least=3, why="w"), 5.99, CONTRADICTED),
    ],
)
def test_growth_is_last_over_first(rule: Growth, last: float, verdict: Verdict) -> None:
    assert verdicts.growth(rule, [2.0, 100.0, last]).verdict == verdict


@pytest.mark.parametrize(
    ("off", "verdict"),
    [
        (0.04 - TINY, REPRODUCED),
        (0.04 + TINY, CLOSE),
        (0.06 - TINY, CLOSE),
        (0.06 + TINY, CONTRADICTED),
    ],
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_within_has_two_borders_to_each_side(off: float, verdict: Verdict, sign: int) -> None:
    rule = Within(
        type="within", tolerance=Tolerance(relative=0.04), close=Tolerance(relative=0.06), why="w"
    )
    assert verdicts.within(rule, 250.0, [250.0 * (1 + sign * off)]).verdict == verdict


def test_within_judges_the_number_that_is_furthest_off() -> None:
    rule = Within(type="within", tolerance=Tolerance(absolute=0.01), why="w")
    assert verdicts.within(rule, 0.6667, [[0.66, 0.667, 0.67]]).verdict == REPRODUCED
    assert verdicts.within(rule, 0.6667, [[0.66, 0.65, 0.67]]).verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("extra", "verdict"), [(0.49, REPRODUCED), (0.51, CLOSE), (0.74, CLOSE), (0.76, CONTRADICTED)]
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_shape_compares_the_exponents_of_the_last_rows(
    extra: float, verdict: Verdict, sign: int
) -> None:
    rule = Shape(type="shape", last=3, tolerance=0.5, close=0.75, why="w")
    printed = [9.0, 1.0, 4.0, 16.0, None]
    ours = [1.0, 1.0, 4.0, 16.0 * 2 ** (sign * extra), 5.0]
    assert verdicts.shape(rule, printed, [[1, 2, 4, 8, 16], ours]).verdict == verdict


def test_shape_does_not_depend_on_the_speed_of_the_machine() -> None:
    rule = Shape(type="shape", last=3, tolerance=0.01, close=0.02, why="w")
    slow = [700.0, 2800.0, 11200.0]
    assert verdicts.shape(rule, [1.0, 4.0, 16.0], [[1, 2, 4], slow]).verdict == REPRODUCED


def test_shape_needs_the_rows_of_the_chapter() -> None:
    rule = Shape(type="shape", last=2, tolerance=0.5, close=1, why="w")
    with pytest.raises(NotMeasured, match="2 rows"):
        verdicts.shape(rule, [1.0, 4.0, 16.0], [[1, 2], [1.0, 4.0]])
    with pytest.raises(NotMeasured, match="None"):
        verdicts.shape(rule, [1.0, 4.0], [[1, 2], [1.0, None]])


# One more run


def printed_at(distance: float, values: list[float]) -> float:
    """So many half-widths of the prediction interval above its middle."""
    low, high = statistics.prediction_interval(values)
    return (low + high) / 2 + distance * (high - low) / 2


NARROW = [37.9, 38.0, 38.1]


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("distance", "verdict"),
    [(0.0, REPRODUCED), (0.999, REPRODUCED), (1.001, CLOSE), (2.2, CLOSE), (2.4, CONTRADICTED)],
)
def test_prediction_has_the_interval_and_then_the_tolerance(
    distance: float, verdict: Verdict, sign: int
) -> None:
    # The interval reaches 0.497 to each side, the tolerance of 3 % about 1.14.
    printed = printed_at(sign * distance, NARROW)
    found = verdicts.prediction(PLAIN, printed, 12, seeds(*NARROW), SPREAD)
    assert found.verdict == verdict


def test_the_tolerance_is_a_share_of_the_printed_figure() -> None:
    def verdict(printed: float) -> Verdict:
        return verdicts.prediction(PLAIN, printed, 9, seeds(99.999, 100.0, 100.001), 1).verdict

    assert verdict(100 / 1.03 + TINY) == CLOSE
    assert verdict(100 / 1.03 - TINY) == CONTRADICTED
    assert verdict(100 / 0.97 - TINY) == CLOSE
    assert verdict(100 / 0.97 + TINY) == CONTRADICTED


def test_a_printed_figure_stands_for_all_that_rounds_to_it() -> None:
    ours = seeds(21.29, 21.30, 21.31)  # the interval is 21.25 to 21.35
    assert verdicts.prediction(PLAIN, 21, 0, ours, SPREAD).verdict == REPRODUCED
    assert verdicts.prediction(PLAIN, 21.0, 1, ours, SPREAD).verdict == CLOSE


def test_an_interval_that_is_wide_for_lack_of_seeds_settles_nothing() -> None:
    # 38 lies inside 33.2 to 43.2 here; were there many such seeds, it would not.
    few = verdicts.prediction(PLAIN, 40.9, 2, seeds(37.0, 38.1, 39.0), SPREAD)
    assert few.verdict == UNDERPOWERED
    assert few.interval is not None
    assert few.interval[0] < 40.9 < few.interval[1]
    assert few.more_seeds is not None
    again = [37.0, 38.1, 39.0] * 40
    settled = verdicts.prediction(PLAIN, 40.9, 2, seeds(*again), SPREAD)
    assert settled.verdict == CONTRADICTED


def test_seeds_that_differ_by_as_much_reproduce_even_so() -> None:
    ours = seeds(20.0, 40.0, 60.0, 30.0, 50.0)
    found = verdicts.prediction(PLAIN, 60.0, 0, ours, SPREAD)
    assert found.verdict == REPRODUCED
    assert found.more_seeds is None


def test_near_the_mean_a_wide_interval_does_no_harm() -> None:
    assert verdicts.prediction(PLAIN, 38.5, 1, seeds(37.0, 39.0), SPREAD).verdict == REPRODUCED


def test_on_logarithms_the_interval_is_one_of_ratios() -> None:
    rule = Prediction(type="prediction", scale="log", close=Tolerance(factor=2), why="w")
    values = [290.0, 310.0, 300.0, 295.0]
    low, high = statistics.prediction_interval([math.log(value) for value in values])
    for printed, verdict in (
        (math.exp(high) - 0.01, REPRODUCED),
        (math.exp(high) + 0.01, CLOSE),
        (math.exp(low) - 0.01, CLOSE),
        (590.0, CLOSE),
        (610.0, CONTRADICTED),
        (148.0, CONTRADICTED),
    ):
        found = verdicts.prediction(rule, printed, 9, seeds(*values), SPREAD)
        assert found.verdict == verdict, printed


@pytest.mark.parametrize("printed", [38.0, 20.0])
def test_one_seed_gives_no_verdict(printed: float) -> None:
    found = verdicts.prediction(PLAIN, printed, 2, seeds(38.0), SPREAD)
    assert found.verdict == UNDERPOWERED
    assert found.interval is None
    # With a deviation of 1 %, the interval of seven is the first within 3 %.
    assert found.more_seeds == statistics.seeds_to_resolve(0.03 * printed, 0.38) - 1


def test_a_plain_number_is_no_number_over_seeds() -> None:
    with pytest.raises(NotMeasured, match="over seeds"):
        verdicts.prediction(PLAIN, 38.0, 2, 38.0, SPREAD)


# Differences and ratios


def test_a_difference_is_taken_seed_by_seed() -> None:
    # Both spread by 10 points, their difference by a tenth of one.
    rule = Difference(type="difference", close=Tolerance(absolute=1.8), why="w")
    first, second = seeds(60.0, 70.0, 80.0), seeds(46.1, 56.0, 65.9)
    found = verdicts.difference(rule, 14, 0, [first, second], SPREAD)
    assert found.verdict == REPRODUCED
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] < 1.1
    for printed, verdict in ((15, CLOSE), (13, CLOSE), (16, CONTRADICTED), (12, CONTRADICTED)):
        assert verdicts.difference(rule, printed, 0, [first, second], SPREAD).verdict == verdict


def test_a_difference_pairs_seeds_and_not_places() -> None:
    rule = Difference(type="difference", close=Tolerance(absolute=0.1), why="w")
    first = spread({0: 10.0, 1: 20.0, 2: 30.0})
    second = spread({2: 29.0, 1: 19.0, 5: 0.0, 0: 9.0})
    found = verdicts.difference(rule, 1, 0, [first, second], SPREAD)
    assert found.measured is not None
    assert found.measured["n"] == 3
    assert found.verdict == REPRODUCED
    shuffled = spread({0: 30.0, 1: 10.0, 2: 20.0})
    assert verdicts.difference(rule, 1, 0, [shuffled, second], SPREAD).interval != found.interval


def test_no_seed_in_common_is_no_measurement() -> None:
    rule = Difference(type="difference", close=Tolerance(absolute=1), why="w")
    with pytest.raises(NotMeasured, match="no seed in common"):
        verdicts.difference(rule, 1, 0, [spread({0: 1.0}), spread({1: 1.0})], SPREAD)


def test_a_difference_of_one_seed_gives_no_verdict() -> None:
    rule = Difference(type="difference", close=Tolerance(absolute=1.8), why="w")
    found = verdicts.difference(rule, 14, 0, [seeds(60.0), seeds(46.0)], SPREAD)
    assert found.verdict == UNDERPOWERED
    deviation = SPREAD * math.hypot(60, 46)
    assert found.more_seeds == statistics.seeds_to_resolve(1.8, deviation) - 1


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(4.0, REPRODUCED), (4.49, REPRODUCED), (4.8, CLOSE), (5.1, CONTRADICTED), (3.1, CONTRADICTED)],
)
def test_a_ratio_is_taken_seed_by_seed(factor: float, verdict: Verdict) -> None:
    rule = Ratio(type="ratio", close=Tolerance(factor=1.25), why="w")
    second = seeds(59.0, 60.0, 61.0)
    first = seeds(59.0 * factor * 0.999, 60.0 * factor, 61.0 * factor * 1.001)
    assert verdicts.ratio(rule, 4, 0, [first, second], SPREAD).verdict == verdict


# Magnitude


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("decades", "verdict"),
    [(0.49, REPRODUCED), (0.51, CLOSE), (0.99, CLOSE), (1.01, CONTRADICTED)],
)
def test_magnitude_counts_powers_of_ten(decades: float, verdict: Verdict, sign: int) -> None:
    rule = Magnitude(type="magnitude", decades=0.5, close_decades=1, why="w")
    middle = 5147 * 10 ** (sign * decades)
    assert verdicts.magnitude(rule, 5147, seeds(middle / 3, middle * 3)).verdict == verdict


def test_magnitude_needs_two_seeds_and_numbers_above_zero() -> None:
    rule = Magnitude(type="magnitude", decades=0.5, close_decades=1, why="w")
    assert verdicts.magnitude(rule, 5147, seeds(5147.0)).verdict == UNDERPOWERED
    with pytest.raises(NotMeasured, match="above zero"):
        verdicts.magnitude(rule, 5147, seeds(5147.0, 0.0))


# Order

ORDER = Order(type="order")


def test_order_holds_with_its_paired_test() -> None:
    found = verdicts.order(ORDER, [seeds(10.0, 20.0, 30.0), seeds(11.0, 21.2, 30.9)], SPREAD)
    assert found.verdict == REPRODUCED
    assert found.p_value == pytest.approx(statistics.one_sided_p([1.0, 1.2, 0.9]))


def test_order_the_other_way_is_contradicted() -> None:
    found = verdicts.order(ORDER, [seeds(11.0, 21.2, 30.9), seeds(10.0, 20.0, 30.0)], SPREAD)
    assert found.verdict == CONTRADICTED


@pytest.mark.parametrize("sign", [-1, 1])
def test_order_changes_at_its_significance(sign: int) -> None:
    # Differences m - 1, m, m + 1: t is m · sqrt(3), with two degrees of freedom.
    border = statistics.t_quantile(0.95, 3) / math.sqrt(3)

    def verdict(mean: float) -> Verdict:
        first, second = seeds(50.0, 50.0, 50.0), seeds(49.0 + mean, 50.0 + mean, 51.0 + mean)
        return verdicts.order(ORDER, [first, second], SPREAD).verdict

    settled = REPRODUCED if sign > 0 else CONTRADICTED
    assert verdict(sign * border * 1.001) == settled
    assert verdict(sign * border * 0.999) == UNDERPOWERED


def test_order_says_how_many_more_pairs_would_tell() -> None:
    first, second = seeds(50.0, 50.0, 50.0), seeds(49.8, 50.8, 51.8)
    found = verdicts.order(ORDER, [first, second], SPREAD)
    assert found.verdict == UNDERPOWERED
    needed = statistics.seeds_for_power(0.8, 0.05)
    assert needed is not None
    assert found.more_seeds == needed - 3


def test_every_pair_must_hold() -> None:
    small, large = seeds(1.0, 1.1, 0.9), seeds(2.0, 2.2, 1.9)
    unsure = seeds(1.2, 0.9, 1.0)
    assert verdicts.order(ORDER, [small, large, small, large], SPREAD).verdict == REPRODUCED
    both = verdicts.order(ORDER, [small, large, small, unsure], SPREAD)
    assert both.verdict == UNDERPOWERED
    assert both.p_value == verdicts.order(ORDER, [small, unsure], SPREAD).p_value
    assert verdicts.order(ORDER, [small, large, large, small], SPREAD).verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("times", "verdict"), [(1.55, REPRODUCED), (1.5, UNDERPOWERED), (1.45, CONTRADICTED)]
)
def test_order_by_a_factor(times: float, verdict: Verdict) -> None:
    rule = Order(type="order", factor=1.5)
    first = seeds(43.0, 44.0, 45.0)
    second = seeds(43.0 * times * 0.999, 44.0 * times, 45.0 * times * 1.001)
    assert verdicts.order(rule, [first, second], SPREAD).verdict == verdict


@pytest.mark.parametrize(
    ("gap", "verdict"), [(0.0, CONTRADICTED), (0.008, CONTRADICTED), (0.012, REPRODUCED)]
)
def test_a_difference_below_the_least_is_none(gap: float, verdict: Verdict) -> None:
    rule = Order(type="order", least=0.01)
    block, average = seeds(0.95, 0.96, 0.97), seeds(0.95 + gap, 0.96 + gap, 0.97 + gap)
    assert verdicts.order(rule, [block, average], SPREAD).verdict == verdict


def test_equal_numbers_in_every_seed_settle_no_order() -> None:
    same = seeds(1.0, 1.0, 1.0)
    found = verdicts.order(ORDER, [same, same], SPREAD)
    assert found.verdict == UNDERPOWERED
    assert found.more_seeds is None


def test_order_of_one_seed_gives_no_verdict() -> None:
    found = verdicts.order(ORDER, [seeds(38.0), seeds(40.5)], SPREAD)
    assert found.verdict == UNDERPOWERED
    assert found.p_value is None
    effect = 2.5 / (SPREAD * math.hypot(38.0, 40.5))
    needed = statistics.seeds_for_power(effect, 0.05)
    assert needed is not None
    assert found.more_seeds == needed - 1
