"""What differs between two mappings of parameters, and between two records of metrics."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from remeasure.ledger.statistics import one_sided_p, t_quantile
from remeasure.records.results import Spread, as_spread

CONFIDENCE = 0.95
SAME = 1e-6
"""Numbers that differ by less than this part of themselves count as the same."""


class Absent:
    """In place of the value of a parameter that one side does not have."""

    def __repr__(self) -> str:
        return "–"


ABSENT = Absent()


@dataclass(frozen=True)
class Parameter:
    """A parameter that differs, or a whole section that only one side has."""

    address: str
    a: Any
    b: Any


@dataclass(frozen=True)
class Paired:
    """A two-sided paired t-test over the seeds that both sides have."""

    n: int
    difference: float
    """Mean over the seeds of B − A."""
    reach: float
    """The true mean difference is no further away than this, with confidence CONFIDENCE."""
    p: float


@dataclass(frozen=True)
class Metric:
    """One number of a record on both sides; None where it is not measured."""

    address: str
    a: Spread | None
    b: Spread | None

    @property
    def common_seeds(self) -> list[str]:
        """Seeds that both numbers were measured with, in the order of A."""
        return [seed for seed in _per_seed(self.a) if seed in _per_seed(self.b)]

    @property
    def difference(self) -> float | None:
        """B − A, over the seeds that both have if there are any, else of the two means."""
        if self.a is None or self.b is None:
            return None
        pairs = self._pairs()
        return fmean(pairs) if pairs else self.b.mean - self.a.mean

    @property
    def test(self) -> Paired | None:
        """The paired test; None with fewer than two seeds in common."""
        pairs = self._pairs()
        if len(pairs) < 2:
            return None
        n, mean = len(pairs), fmean(pairs)
        reach = t_quantile((1 + CONFIDENCE) / 2, n) * stdev(pairs) / math.sqrt(n)
        p = 2 * min(one_sided_p(pairs), one_sided_p([-difference for difference in pairs]))
        return Paired(n, mean, reach, p)

    @property
    def same(self) -> bool:
        """Whether both sides have the same number."""
        if self.a is None or self.b is None:
            return self.a is self.b
        return math.isclose(self.a.mean, self.b.mean, rel_tol=SAME)

    def _pairs(self) -> list[float]:
        a, b = _per_seed(self.a), _per_seed(self.b)
        return [b[seed] - a[seed] for seed in self.common_seeds]


def parameters(a: Mapping[str, Any], b: Mapping[str, Any], where: str = "") -> list[Parameter]:
    """Values that differ, by dotted address, in the order of `a`; what only `b` has comes last."""
    found: list[Parameter] = []
    for key in dict.fromkeys([*a, *b]):
        address = f"{where}{key}"
        one, other = a.get(key, ABSENT), b.get(key, ABSENT)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += parameters(one, other, f"{address}.")
        elif one != other or type(one) is not type(other):
            found.append(Parameter(address, one, other))
    return found


def metrics(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Metric]:
    """Every number that either record holds, in the order of `a`; its protocol is none."""
    ours, theirs = dict(_numbers(a)), dict(_numbers(b))
    return [
        Metric(address, ours.get(address), theirs.get(address))
        for address in dict.fromkeys([*ours, *theirs])
    ]


def _per_seed(found: Spread | None) -> Mapping[str, float]:
    return (found.per_seed if found is not None else None) or {}


def _numbers(record: Mapping[str, Any]) -> Iterator[tuple[str, Spread]]:
    for key, value in record.items():
        if key != "protocol":
            yield from _below(str(key), value)


def _below(address: str, value: Any) -> Iterator[tuple[str, Spread]]:
    found = as_spread(value)
    if found is not None:
        yield address, found
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _below(f"{address}.{key}", inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _below(f"{address}.{place}", inner)
