"""The comparison as rows of text, for the terminal and the page alike."""

from collections.abc import Sequence
from pathlib import Path

from remeasure.compare import wording
from remeasure.compare.comparison import Comparison, RecordPair
from remeasure.compare.curves import Curves, shown_steps

STEPS = 6
"""Rows of the learning curves."""
NUMBERS = 4
"""Rows of a record other than that of `train`."""
METRICS = ("A", "B", "B − A", "p")
"""Headings of what `train` and `others` give, after the name."""

Row = Sequence[str]


def parameters(comparison: Comparison) -> list[Row]:
    """Address, A, B."""
    return [
        (each.address, wording.value(each.a), wording.value(each.b))
        for each in comparison.parameters
    ]


def train(comparison: Comparison) -> list[Row]:
    """Address, A, B, difference, p of every number of the stage `train`."""
    return [] if comparison.train is None else _metrics(comparison.train, "")


def others(comparison: Comparison) -> list[Row]:
    """The same of the first differing numbers of each other record, below its name."""
    rows: list[Row] = []
    for pair in comparison.others:
        more = len(pair.metrics) - NUMBERS
        rows.append(
            (
                _name(pair.path),
                "" if pair.same_settings else "other settings",
                f"{more} more differ" if more > 0 else "",
                "",
                "",
            )
        )
        rows += _metrics(pair, "  ")[:NUMBERS]
    return rows


def alone(comparison: Comparison) -> list[str]:
    """Which records one side has alone, a line a side."""
    sides = (("A", comparison.only_a), ("B", comparison.only_b))
    return [f"Only in {name}: {', '.join(map(_name, found))}." for name, found in sides if found]


def curves(found: Curves) -> list[Row]:
    """Step, A, B, at some of the steps that both were evaluated at."""
    return [
        (f"step {step:,}", *(wording.number(table["mean"][step]) for table in (found.a, found.b)))
        for step in shown_steps(found, STEPS)
    ]


def _metrics(pair: RecordPair, indent: str) -> list[Row]:
    return [
        (
            f"{indent}{metric.address}",
            wording.spread(metric.a),
            wording.spread(metric.b),
            wording.difference(metric, pair.comparable(metric)),
            wording.p_value(metric, pair.comparable(metric)),
        )
        for metric in pair.metrics
    ]


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"
