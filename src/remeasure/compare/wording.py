"""Values, numbers and tests as they are shown, the same in the terminal and on the page."""

import json
from collections.abc import Mapping
from typing import Any

from remeasure.compare.comparison import Comparison
from remeasure.compare.differences import ABSENT, Metric
from remeasure.figures.words import fixed, significant
from remeasure.records.results import Spread

DIGITS = 4
LONGEST = 60
"""Characters of a parameter's value."""
NOTHING = "–"


def value(found: Any) -> str:
    """A parameter's value as it stands in YAML, cut if it is long."""
    if found is ABSENT:
        return NOTHING
    text = found if isinstance(found, str) else _flow(found)
    text = text.replace("\n", "\\n")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def number(found: float) -> str:
    """A measured number."""
    return fixed(found, 0) if isinstance(found, int) else significant(found, DIGITS)


def spread(found: Spread | None) -> str:
    """A mean with its deviation and the number of seeds."""
    if found is None:
        return NOTHING
    if found.n is None:
        return number(found.mean)
    if found.std is None:
        return f"{number(found.mean)} (n {found.n})"
    return f"{number(found.mean)} ± {significant(found.std, 2)} (n {found.n})"


def difference(metric: Metric, comparable: bool) -> str:
    """B − A, with its interval if there is a test."""
    if metric.difference is None or not comparable:
        return NOTHING
    if metric.same:
        return "0"
    shown = _signed(metric.difference)
    test = metric.test
    return shown if test is None else f"{shown} [{_signed(test.low)}, {_signed(test.high)}]"


def p_value(metric: Metric, comparable: bool) -> str:
    """The p of the paired test."""
    test = metric.test
    if test is None or not comparable or metric.same:
        return NOTHING
    return "< 0.001" if test.p < 0.001 else f"{test.p:.3f}"


def headline(comparison: Comparison) -> str:
    """How much differs, and what that did to the held-out text, in two sentences."""
    n = len(comparison.parameters)
    differing = "One parameter differs." if n == 1 else f"{n or 'No'} parameters differ."
    metrics = comparison.train.metrics if comparison.train else []
    found = next((each for each in metrics if each.address == "held_out.bits_per_byte"), None)
    if found is None:
        return differing
    return f"{differing} Held-out bits per byte: A {spread(found.a)}, B {spread(found.b)}."


def _signed(found: float) -> str:
    text = number(found)
    return text if found <= 0 else f"+{text}"


def _flow(found: Any) -> str:
    if isinstance(found, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in found.items()) + "}"
    if isinstance(found, list):
        return "[" + ", ".join(map(_flow, found)) + "]"
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
