"""Verdicts: one function a kind of rule, from what was measured to what is to be said of the claim.

A figure that is printed to some digits stands for every number that rounds to it, so it is compared
as an interval of half a unit of the last digit to both sides. Functions raise NotMeasured if a
number that they need is missing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any

from remeasure.ledger import statistics
from remeasure.ledger.claims import (
    AtLeast,
    AtMost,
    Claim,
    Difference,
    Equal,
    Growth,
    Magnitude,
    Order,
    Polynomial,
    Prediction,
    Ratio,
    Scale,
    Shape,
    Tolerance,
    Within,
)
from remeasure.ledger.values import NotMeasured, numbers, per_seed
from remeasure.records.spread import spread

ROUNDING = 1e-9
"""Decimal figures have no exact binary form; borders are met to this relative precision."""


ONE_SEED = "one seed tells nothing of the spread"


class Verdict(StrEnum):
    """What is said of a claim, the best first."""

    REPRODUCED = "reproduced"
    CLOSE = "close"
    CONTRADICTED = "contradicted"
    UNDERPOWERED = "underpowered"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Judgement:
    """A verdict with the numbers behind it, as they go into metrics/ledger.json."""

    verdict: Verdict
    reason: str
    measured: Mapping[str, Any] | None = None
    """{"value"} of a plain number or table, a spread over seeds, or {"pairs"} of an order."""
    interval: tuple[float, float] | None = None
    """95 % prediction interval, or the bounds that a numeric rule allows."""
    p_value: float | None = None
    more_seeds: int | None = None
    """How many seeds more would probably settle it; None if it is settled or that is unknown."""


def judge(claim: Claim, values: Sequence[Any], typical_spread: float) -> Judgement:
    """Apply the claim's rule to what stands at its addresses. Raises NotMeasured."""
    match claim.rule:
        case Equal():
            return equal(claim.printed, claim.digits, values[0])
        case Polynomial() as rule:
            return polynomial(rule, values)
        case AtMost() as rule:
            return at_most(rule, values)
        case AtLeast() as rule:
            return at_least(rule, values)
        case Growth() as rule:
            return growth(rule, values[0])
        case Within() as rule:
            return within(rule, claim.figure if rule.to is None else rule.to, values)
        case Shape() as rule:
            return shape(rule, claim.printed, values)
        case Prediction() as rule:
            return prediction(rule, claim.figure, claim.digits, values[0], typical_spread)
        case Difference() as rule:
            return difference(rule, claim.figure, claim.digits, values, typical_spread)
        case Ratio() as rule:
            return ratio(rule, claim.figure, claim.digits, values, typical_spread)
        case Magnitude() as rule:
            return magnitude(rule, claim.figure, values[0])
        case Order() as rule:
            return order(rule, values, typical_spread)


def equal(printed: Any, digits: int, value: Any) -> Judgement:
    """Equal to the digits printed, lists entry by entry."""
    numbers(value)
    same = _same(printed, value, half_unit(digits))
    reason = "equal to the digits printed" if same else "differs in the digits printed"
    return Judgement(_verdict(same), reason, {"value": value})


def polynomial(rule: Polynomial, values: Sequence[Any]) -> Judgement:
    """Every y equals the polynomial of its x."""
    points = _points(values)
    wrong = [x for x, y in points if not _near(y, _polynomial(rule.coefficients, x))]
    reason = (
        f"holds at all {len(points)} sizes"
        if not wrong
        else f"does not hold at {', '.join(f'{x:g}' for x in wrong)}"
    )
    return Judgement(_verdict(not wrong), reason, {"value": values[-1]})


def at_most(rule: AtMost, values: Sequence[Any]) -> Judgement:
    """No number is above the limit."""
    found = max(numbers(list(values)))
    holds = found <= rule.limit
    reason = f"{'at most' if holds else 'above'} {rule.limit:g}"
    return Judgement(_verdict(holds), reason, {"value": found})


def at_least(rule: AtLeast, values: Sequence[Any]) -> Judgement:
    """No number is below the limit."""
    found = min(numbers(list(values)))
    holds = found >= rule.limit
    reason = f"{'at least' if holds else 'below'} {rule.limit:g}"
    return Judgement(_verdict(holds), reason, {"value": found})


def growth(rule: Growth, value: Any) -> Judgement:
    """The last number over the first."""
    first, *_, last = numbers(value)
    found = last / first
    holds = (rule.at_least is None or found >= rule.at_least) and (
        rule.at_most is None or found <= rule.at_most
    )
    limits = {"at least": rule.at_least, "at most": rule.at_most}
    allowed = ", ".join(
        f"{words} {limit:g}" for words, limit in limits.items() if limit is not None
    )
    return Judgement(_verdict(holds), f"last over first, allowed is {allowed}", {"value": found})


def within(rule: Within, target: float, values: Sequence[Any]) -> Judgement:
    """Every number, so the one furthest from the target, is inside the tolerance."""
    found = max(numbers(list(values)), key=lambda value: abs(value - target))
    interval = rule.tolerance.around(target)
    if _inside(found, interval):
        verdict, reason = Verdict.REPRODUCED, f"within {rule.tolerance.text}"
    elif rule.close is not None and _inside(found, rule.close.around(target)):
        verdict = Verdict.CLOSE
        reason = f"outside {rule.tolerance.text}, within {rule.close.text}"
    else:
        widest = rule.close or rule.tolerance
        verdict, reason = Verdict.CONTRADICTED, f"outside {widest.text}"
    return Judgement(verdict, reason, {"value": found}, interval)


def shape(rule: Shape, printed: Any, values: Sequence[Any]) -> Judgement:
    """Local exponents between the last printed rows, beside ours."""
    x, y = values
    if not isinstance(printed, list) or not len(printed) == len(x) == len(y):
        raise NotMeasured(f"the record has {len(y)} rows, not those of the chapter's table")
    rows = [row for row in zip(x, printed, y, strict=True) if row[1] is not None][-rule.last :]
    x, printed, y = (numbers(list(column)) for column in zip(*rows, strict=True))
    off = max(
        abs(ours - theirs)
        for ours, theirs in zip(_exponents(x, y), _exponents(x, printed), strict=True)
    )
    reason = f"exponents at most {off:.2f} from the chapter's, allowed are {rule.tolerance:g}"
    return Judgement(_graded(off, rule.tolerance, rule.close), reason, {"value": values[1]})


def prediction(
    rule: Prediction, printed: float, digits: int, value: Any, typical_spread: float
) -> Judgement:
    """The chapter's one run as a further draw from our seeds."""
    seeds = per_seed(value)
    std = typical_spread * (1 if rule.scale == "log" else abs(fmean(seeds.values())))
    return _one_more_run(seeds, printed, digits, rule.close, rule.scale, std)


def difference(
    rule: Difference, printed: float, digits: int, values: Sequence[Any], typical_spread: float
) -> Judgement:
    """The chapter's difference as a further draw from ours, first minus second, seed by seed."""
    pairs = _pairs(*values)
    seeds = {seed: first - second for seed, (first, second) in pairs.items()}
    std = _typical_difference(pairs, typical_spread)
    return _one_more_run(seeds, printed, digits, rule.close, "linear", std)


def ratio(
    rule: Ratio, printed: float, digits: int, values: Sequence[Any], typical_spread: float
) -> Judgement:
    """The chapter's ratio as a further draw from ours, first over second, seed by seed."""
    seeds = {seed: first / second for seed, (first, second) in _pairs(*values).items()}
    return _one_more_run(seeds, printed, digits, rule.close, "log", math.sqrt(2) * typical_spread)


def magnitude(rule: Magnitude, printed: float, value: Any) -> Judgement:
    """The seeds' geometric mean against the printed order of magnitude."""
    seeds = per_seed(value)
    if len(seeds) < 2:
        return Judgement(Verdict.UNDERPOWERED, ONE_SEED, spread(seeds), more_seeds=1)
    off = abs(fmean(_log(seeds.values())) - math.log(printed)) / math.log(10)
    reason = f"{off:.2f} powers of ten from the chapter, allowed are {rule.decades:g}"
    return Judgement(_graded(off, rule.decades, rule.close_decades), reason, spread(seeds))


def order(rule: Order, values: Sequence[Any], typical_spread: float) -> Judgement:
    """All pairs in their order, each by a paired one-sided t-test.

    The order holds if every test is significant at alpha, so the largest p-value counts. It is
    contradicted if one difference is, with confidence 1 - alpha shared out among the pairs, smaller
    than `rule.least`.
    """
    pairs = [_pairs(*values[i : i + 2]) for i in range(0, len(values), 2)]
    measured = {
        "pairs": [
            {
                "smaller": spread({seed: first for seed, (first, _) in pair.items()}),
                "larger": spread({seed: second for seed, (_, second) in pair.items()}),
            }
            for pair in pairs
        ]
    }
    gaps = [_gaps(rule, pair) for pair in pairs]
    if min(map(len, pairs)) < 2:
        stds = [
            math.sqrt(2) * typical_spread
            if rule.factor
            else _typical_difference(pair, typical_spread)
            for pair in pairs
        ]
        needed = [
            _seeds_for(fmean(gap), std, rule.alpha) for gap, std in zip(gaps, stds, strict=True)
        ]
        return Judgement(Verdict.UNDERPOWERED, ONE_SEED, measured, more_seeds=_more(needed, 1))
    p_values = [statistics.one_sided_p(gap) for gap in gaps]
    p = max(p_values)
    shared = rule.alpha / len(gaps)
    if any(statistics.upper_bound(gap, shared) < rule.least for gap in gaps):
        reason = (
            f"with confidence smaller than {rule.least:g}" if rule.least else "significantly not so"
        )
        return Judgement(Verdict.CONTRADICTED, reason, measured, p_value=p)
    if p <= rule.alpha:
        return Judgement(Verdict.REPRODUCED, f"p = {p:.2g}", measured, p_value=p)
    needed = [_seeds_for(fmean(gap), stdev(gap), rule.alpha) for gap in gaps]
    return Judgement(
        Verdict.UNDERPOWERED,
        f"p = {p:.2g}, neither way significant",
        measured,
        p_value=p,
        more_seeds=_more(needed, min(map(len, pairs))),
    )


def half_unit(digits: int) -> float:
    """Half a unit of the last of so many decimals."""
    return 0.5 * 10.0**-digits


def _one_more_run(
    seeds: Mapping[int, float],
    printed: float,
    digits: int,
    close: Tolerance,
    scale: Scale,
    typical_std: float,
) -> Judgement:
    """The verdict on one printed run, seen as a further draw from `seeds`.

    Reproduced inside the prediction interval; close outside it but inside the tolerance; else
    contradicted. Inside an interval that is wide only because the seeds are few, and outside the
    tolerance, nothing is settled: underpowered, as with a single seed.
    """
    values = _log(seeds.values()) if scale == "log" else list(seeds.values())
    there, back = (math.log, math.exp) if scale == "log" else (float, float)
    low, high = (there(printed + sign * half_unit(digits)) for sign in (-1, 1))
    near_low, near_high = close.around(printed)
    mean, n = fmean(values), len(values)
    measured = spread(seeds)
    if n < 2:
        reach = there(near_high) - there(printed)
        more = statistics.seeds_to_resolve(reach, typical_std) - 1
        return Judgement(Verdict.UNDERPOWERED, ONE_SEED, measured, more_seeds=more)
    ours = statistics.prediction_interval(values)
    interval = back(ours[0]), back(ours[1])
    shown = f"{interval[0]:.4g} to {interval[1]:.4g}"
    near = _inside(back(mean), (near_low, near_high))
    if ours[0] <= high and low <= ours[1]:
        distance = max(low - mean, mean - high)
        needed = statistics.seeds_to_exclude(distance, stdev(values), n)
        if near or needed is None:
            return Judgement(Verdict.REPRODUCED, f"inside {shown}", measured, interval)
        reason = f"inside {shown}, which {n} seeds leave too wide to tell"
        return Judgement(Verdict.UNDERPOWERED, reason, measured, interval, more_seeds=needed - n)
    if near:
        reason = f"outside {shown}, within {close.text}"
        return Judgement(Verdict.CLOSE, reason, measured, interval)
    reason = f"outside {shown} and {close.text}"
    return Judgement(Verdict.CONTRADICTED, reason, measured, interval)


def _pairs(first: Any, second: Any) -> dict[int, tuple[float, float]]:
    """Both numbers of each seed that both records have."""
    ours, theirs = per_seed(first), per_seed(second)
    common = {seed: (ours[seed], theirs[seed]) for seed in ours if seed in theirs}
    if not common:
        raise NotMeasured("the two records have no seed in common")
    return common


def _gaps(rule: Order, pair: Mapping[int, tuple[float, float]]) -> list[float]:
    """By how much the order holds, a seed: above zero if it does."""
    if rule.factor is None:
        return [second - first for first, second in pair.values()]
    return _log(second / first / rule.factor for first, second in pair.values())


def _typical_difference(pairs: Mapping[int, tuple[float, float]], typical_spread: float) -> float:
    """Deviation that a difference of two trained numbers is assumed to have."""
    return typical_spread * math.hypot(*(fmean(side) for side in zip(*pairs.values(), strict=True)))


def _seeds_for(mean: float, std: float, alpha: float) -> int | None:
    if mean == 0 or std == 0:
        return None if mean == 0 else 2
    return statistics.seeds_for_power(abs(mean) / std, alpha)


def _more(needed: Sequence[int | None], n: int) -> int | None:
    known = [count for count in needed if count is not None]
    return max(1, max(known) - n) if len(known) == len(needed) else None


def _log(values: Any) -> list[float]:
    found = list(values)
    if min(found) <= 0:
        raise NotMeasured(f"the record holds {min(found):g} where a number above zero is expected")
    return [math.log(value) for value in found]


def _same(printed: Any, value: Any, half: float) -> bool:
    if isinstance(printed, list):
        return (
            isinstance(value, list)
            and len(printed) == len(value)
            and all(_same(p, v, half) for p, v in zip(printed, value, strict=True))
        )
    return not isinstance(value, list) and abs(value - printed) <= half * (1 + ROUNDING)


def _points(values: Sequence[Any]) -> list[tuple[float, float]]:
    if len(values) == 1:
        return [(float(x), y) for x, y in zip(values[0], numbers(values[0]), strict=True)]
    return list(zip(numbers(values[0]), numbers(values[1]), strict=True))


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    return sum(coefficient * x**power for power, coefficient in enumerate(coefficients))


def _near(value: float, expected: float) -> bool:
    return math.isclose(value, expected, rel_tol=ROUNDING)


def _inside(value: float, interval: tuple[float, float]) -> bool:
    slack = ROUNDING * max(map(abs, interval))
    return interval[0] - slack <= value <= interval[1] + slack


def _exponents(x: Sequence[float], y: Sequence[float]) -> list[float]:
    steps = zip(pairwise(_log(x)), pairwise(_log(y)), strict=True)
    return [(y1 - y0) / (x1 - x0) for (x0, x1), (y0, y1) in steps]


def _verdict(holds: bool) -> Verdict:
    return Verdict.REPRODUCED if holds else Verdict.CONTRADICTED


def _graded(off: float, tolerance: float, close: float) -> Verdict:
    if off <= tolerance * (1 + ROUNDING):
        return Verdict.REPRODUCED
    return Verdict.CLOSE if off <= close * (1 + ROUNDING) else Verdict.CONTRADICTED
