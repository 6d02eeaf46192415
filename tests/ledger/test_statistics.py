"""The statistics against simulation and against scipy.stats, which the ledger does not load."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from remeasure.ledger import statistics

TRIALS = 100_000
FOUR_ERRORS = 4 * math.sqrt(0.95 * 0.05 / TRIALS)


@pytest.mark.parametrize("n", range(2, 11))
def test_a_further_draw_falls_into_the_interval_95_times_in_a_hundred(n: int) -> None:
    draws = np.random.default_rng(n).normal(38.0, 0.7, (TRIALS, n + 1))
    seeds, new = draws[:, :n], draws[:, n]
    factor = statistics.prediction_half_width(1.0, n)
    inside = np.abs(new - seeds.mean(1)) <= factor * seeds.std(1, ddof=1)
    assert abs(inside.mean() - 0.95) < FOUR_ERRORS


@pytest.mark.parametrize("n", [2, 5])
def test_an_interval_without_the_new_draws_own_error_would_cover_too_little(n: int) -> None:
    draws = np.random.default_rng(n).normal(0.0, 1.0, (TRIALS, n + 1))
    seeds, new = draws[:, :n], draws[:, n]
    factor = statistics.t_quantile(0.975, n) / math.sqrt(n)
    covered = np.mean(np.abs(new - seeds.mean(1)) <= factor * seeds.std(1, ddof=1))
    assert covered < 0.95 - 10 * FOUR_ERRORS


def test_interval_is_the_half_width_around_the_mean() -> None:
    low, high = statistics.prediction_interval([1.0, 2.0, 4.0])
    spread = np.std([1, 2, 4], ddof=1) * scipy.stats.t.ppf(0.975, 2) * math.sqrt(4 / 3)
    assert low == pytest.approx(7 / 3 - spread)
    assert high == pytest.approx(7 / 3 + spread)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12).filter(lambda x: np.std(x) > 1e-3))
def test_p_value_is_that_of_scipy(differences: list[float]) -> None:
    expected = scipy.stats.ttest_1samp(differences, 0, alternative="greater").pvalue
    assert statistics.one_sided_p(differences) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_p_value_without_any_spread_follows_the_sign() -> None:
    assert statistics.one_sided_p([2.0, 2.0, 2.0]) == 0
    assert statistics.one_sided_p([-2.0, -2.0]) == 1
    assert statistics.one_sided_p([0.0, 0.0, 0.0]) == 0.5


@pytest.mark.parametrize("n", [2, 3, 10])
def test_upper_bound_is_above_the_mean_as_often_as_it_says(n: int) -> None:
    draws = np.random.default_rng(n).normal(1.0, 2.0, (2_000, n))
    above = np.mean([statistics.upper_bound(list(row), 0.1) > 1.0 for row in draws])
    assert above == pytest.approx(0.9, abs=4 * math.sqrt(0.09 / 2_000))


@pytest.mark.parametrize(("effect", "n"), [(0.5, 5), (1.0, 8), (2.0, 3)])
def test_power_is_the_share_of_significant_simulations(effect: float, n: int) -> None:
    draws = np.random.default_rng(n).normal(effect, 1.0, (TRIALS, n))
    t = draws.mean(1) / (draws.std(1, ddof=1) / math.sqrt(n))
    share = np.mean(t > scipy.stats.t.ppf(0.95, n - 1))
    assert statistics.power(effect, n, 0.05) == pytest.approx(share, abs=2 * FOUR_ERRORS * 4)


def test_seeds_for_power_are_the_smallest_number() -> None:
    n = statistics.seeds_for_power(1.0, 0.05)
    assert n is not None
    assert statistics.power(1.0, n, 0.05) >= 0.8 > statistics.power(1.0, n - 1, 0.05)
    assert statistics.seeds_for_power(0.01, 0.05) is None


def test_seeds_to_exclude_are_the_smallest_number_above_n() -> None:
    n = statistics.seeds_to_exclude(3.0, 1.0, 3)
    assert n is not None
    half_widths = [statistics.prediction_half_width(1.0, count) for count in (n - 1, n)]
    assert half_widths[1] < 3.0 <= half_widths[0]


def test_a_distance_that_the_seeds_themselves_span_is_never_excluded() -> None:
    assert statistics.seeds_to_exclude(1.9, 1.0, 3) is None


def test_seeds_to_resolve_reach_the_tolerance() -> None:
    n = statistics.seeds_to_resolve(1.0, 0.3)
    assert statistics.prediction_half_width(0.3, n) <= 1.0
    assert statistics.prediction_half_width(0.3, n - 1) > 1.0


def test_seeds_to_resolve_end_where_the_deviation_alone_is_wider() -> None:
    assert statistics.seeds_to_resolve(0.01, 1.0) < 12


@pytest.mark.parametrize("differences", [[1.0, 2.5], [1.0, 2.0, -0.5], [-3.0, -1.0, 0.5, 1.0]])
def test_wrong_sign_is_as_frequent_as_in_simulation(differences: list[float]) -> None:
    n, mean, generator = len(differences), np.mean(differences), np.random.default_rng(0)
    chi2 = generator.chisquare(n - 1, TRIALS)
    std = np.std(differences, ddof=1) * np.sqrt((n - 1) / chi2)
    further = generator.normal(generator.normal(mean, std / math.sqrt(n)), std)
    wrong = np.mean(np.sign(further) != np.sign(mean))
    assert abs(statistics.sign_error(differences) - wrong) < 4 * math.sqrt(0.25 / TRIALS)


def test_wrong_sign_without_spread_or_difference() -> None:
    assert statistics.sign_error([2.0, 2.0]) == 0
    assert statistics.sign_error([0.0, 0.0]) == 0.5
    assert statistics.sign_error([-1.0, 1.0]) == pytest.approx(0.5)
    assert statistics.sign_error([1.0, 1.1, 0.9]) < 0.01
