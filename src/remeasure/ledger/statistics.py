"""The statistics behind the verdicts: prediction intervals, paired tests and their power.

Only `scipy.special` is used: loading `scipy.stats` would take longer than the whole ledger.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from scipy.special import nctdtr, stdtr, stdtrit

MOST_SEEDS = 100
"""Searches for a sufficient number of seeds end here."""


def t_quantile(probability: float, n: int) -> float:
    """Quantile of Student's t with n - 1 degrees of freedom."""
    return float(stdtrit(n - 1, probability))


def prediction_half_width(std: float, n: int, coverage: float = 0.95) -> float:
    """Half the width of the interval in which one further draw falls with probability `coverage`.

    For n draws of a normal variable with sample deviation `std`: t(n-1) · std · sqrt(1 + 1/n).
    """
    return t_quantile((1 + coverage) / 2, n) * std * math.sqrt(1 + 1 / n)


def prediction_interval(values: Sequence[float], coverage: float = 0.95) -> tuple[float, float]:
    """That interval around the mean of `values`, two at least."""
    mean, half = fmean(values), prediction_half_width(stdev(values), len(values), coverage)
    return mean - half, mean + half


def seeds_to_exclude(distance: float, std: float, n: int) -> int | None:
    """The smallest number of seeds, above n, whose prediction interval would end before `distance`.

    Counted from the mean, with the deviation as it is. None if MOST_SEEDS would not do: then the
    seeds themselves differ by so much.
    """
    enough = (
        more for more in range(n + 1, MOST_SEEDS + 1) if prediction_half_width(std, more) < distance
    )
    return next(enough, None)


def seeds_to_resolve(tolerance: float, std: float) -> int:
    """The smallest number of seeds whose prediction interval is no wider than ± `tolerance`.

    Where the deviation alone is wider: as many as bring the interval within 1.5 times of its
    narrowest, after which more seeds change little.
    """
    widest = max(tolerance, 1.5 * 1.96 * std)
    enough = (n for n in range(2, MOST_SEEDS) if prediction_half_width(std, n) <= widest)
    return next(enough, MOST_SEEDS)


def one_sided_p(differences: Sequence[float]) -> float:
    """p-value of the paired t-test that the mean of `differences`, two at least, is above zero."""
    mean, error = fmean(differences), _standard_error(differences)
    if error == 0:
        return 0.5 if mean == 0 else float(mean < 0)
    return float(stdtr(len(differences) - 1, -mean / error))


def sign_error(differences: Sequence[float]) -> float:
    """Chance that one further pair of runs shows the opposite sign of the mean, two pairs at least.

    Of a normal variable of which nothing was known before: Student's t with n - 1 degrees of
    freedom at mean / (std · sqrt(1 + 1/n)).
    """
    n, mean, std = len(differences), fmean(differences), stdev(differences)
    if std == 0:
        return 0.5 if mean == 0 else 0.0
    return float(stdtr(n - 1, -abs(mean) / (std * math.sqrt(1 + 1 / n))))


def upper_bound(differences: Sequence[float], alpha: float) -> float:
    """The mean of `differences` is below this with confidence 1 - alpha."""
    reach = t_quantile(1 - alpha, len(differences)) * _standard_error(differences)
    return fmean(differences) + reach


def power(effect: float, n: int, alpha: float) -> float:
    """Chance that the one-sided paired t-test is significant with n pairs.

    `effect` is the true mean difference in units of its standard deviation.
    """
    return 1 - float(nctdtr(n - 1, effect * math.sqrt(n), t_quantile(1 - alpha, n)))


def seeds_for_power(effect: float, alpha: float, wanted: float = 0.8) -> int | None:
    """The smallest number of pairs with at least that power; None if MOST_SEEDS would not do."""
    enough = (n for n in range(2, MOST_SEEDS + 1) if power(effect, n, alpha) >= wanted)
    return next(enough, None)


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values))
