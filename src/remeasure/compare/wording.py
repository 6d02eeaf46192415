"""Values, numbers and tests as they are shown, the same in the terminal and on the page."""

import json
from collections.abc import Mapping
from typing import Any

from remeasure.compare.comparison import Comparison, Side
from remeasure.compare.differences import ABSENT, Metric
from remeasure.figures.words import fixed, significant
from remeasure.records.results import Spread

DIGITS = 4
LONGEST = 60
"""Characters of a parameter's value."""
NOTHING = "–"


def value(found: Any) -> str:
    """A parameter's value as `-S` takes it, cut if it is long."""
    if found is ABSENT:
        return NOTHING
    text = found if isinstance(found, str) else _flow(found)
    text = text.replace("\n", "\\n")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def number(found: float, digits: int = DIGITS) -> str:
    """A measured number."""
    return fixed(found, 0) if isinstance(found, int) else significant(found, digits)


def spread(found: Spread | None) -> str:
    """A mean with its deviation over seeds."""
    if found is None:
        return NOTHING
    mean = number(found.mean)
    return mean if found.std is None else f"{mean} ± {significant(found.std, 2)}"


def side(found: Side) -> str:
    """The commit, and the seeds that its stage `train` ran with."""
    seeds = found.seeds()
    named = f"seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}"
    return f"{found.revision.title}, {named if seeds else 'without a result of train'}"


def difference(metric: Metric, comparable: bool) -> str:
    """B − A, with half its confidence interval if there is a test."""
    if metric.difference is None or not comparable:
        return NOTHING
    if metric.same:
        return "0"
    shown = number(metric.difference, DIGITS - 1)
    shown = shown if metric.difference < 0 else f"+{shown}"
    test = metric.test
    return shown if test is None else f"{shown} ± {significant(test.reach, 2)}"


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


def _flow(found: Any) -> str:
    if isinstance(found, Mapping):
        return "{" + ",".join(f"{key}: {_flow(inner)}" for key, inner in found.items()) + "}"
    if isinstance(found, list):
        return "[" + ",".join(map(_flow, found)) + "]"
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
