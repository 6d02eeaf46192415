"""Small tables over many runs, for DVC's own plots: `dvc plots show`, `dvc plots diff REV`.

A curve of every step would be megabytes; here it is one line an evaluation, over all seeds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remeasure.figures import ladder, marks, norm
from remeasure.records.results import Results

Line = Sequence[Any]


@dataclass(frozen=True)
class Table:
    """Columns, and what fills them. What is not measured has no line."""

    columns: Sequence[str]
    rows: Callable[[Results], Iterator[Line]]


def ladder_rows(results: Results) -> Iterator[Line]:
    """A line a rung: the mean, one deviation to both sides, and the chapter's figure."""
    for place, (name, label, claim) in enumerate(ladder.RUNGS):
        found = results.ablation(name, "held_out.perplexity")
        if found is not None:
            std = found.std or 0.0
            printed = None if claim is None else results.printed(claim)
            yield place, label, found.mean, found.mean - std, found.mean + std, printed


def ladder_curves(results: Results) -> Iterator[Line]:
    """Held-out perplexity of the rungs at every evaluation."""
    return _curves(results, {name: label for name, label, _ in ladder.RUNGS})


def norm_curves(results: Results) -> Iterator[Line]:
    """Held-out perplexity of the four runs of twelve blocks at every evaluation."""
    return _curves(results, {name: label for name, label, _, _ in norm.RUNS})


def _curves(results: Results, runs: Mapping[str, str]) -> Iterator[Line]:
    for name, label in runs.items():
        curve = results.curve("ablations", name)
        if curve is not None:
            for step, row in marks.perplexity(curve).iterrows():
                yield label, step, *(_steady(row[part]) for part in ("mean", "min", "max"))


def _steady(value: float) -> float:
    """Without the last digits, in which processors disagree about the exponential function."""
    return float(f"{value:.10g}")


CURVE = ("run", "step", "perplexity", "low", "high")
TABLES: Mapping[str, Table] = {
    "ladder": Table(("place", "rung", "perplexity", "low", "high", "chapter"), ladder_rows),
    "learning_curves": Table(CURVE, ladder_curves),
    "norm_curves": Table(CURVE, norm_curves),
}
"""By the name of the file: plots/summary/NAME.csv."""
