"""What attention costs: the section's text, table and figures."""

from collections.abc import Mapping
from typing import Any

from remeasure.errors import ParameterError
from remeasure.figures.words import count, fixed, significant
from remeasure.params.reading import section
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report, Row
from remeasure.reporting.prose import told
from remeasure.reporting.verdicts import NUMERIC, others, tally

RECORD = "metrics/benchmarks/attention_cost.json"
COLUMNS = (
    ("layer, ms", "cost.table.ms_total", ("ms_total", "median")),
    ("projections, ms", "cost.table.ms_projections", ("ms_projections", "median")),
    ("score matrix, MB", "cost.table.attn_matrix_mb", ("score_matrix_mb",)),
    ("peak, MB", "cost.table.peak_mb", ("peak_mb",)),
    ("fused kernel, ms", None, ("fused", "ms", "median")),
    ("fused kernel, peak MB", None, ("fused", "peak_mb")),
)
"""Heading, the claim that prints the chapter's column, and where ours stands in a row."""


def cost(report: Report) -> Html:
    """Time and memory of one layer as the tokens double."""
    results = report.results
    number = {
        name: results.number(f"{RECORD}#exponents.{name}")
        for name in ("time", "memory", "fused_time", "fused_memory")
    }
    return join(
        tally(report.rows("cost")),
        paragraph(
            [
                told(
                    lambda time, memory: (
                        f"Over the last four sizes, time grows with the tokens to the power of"
                        f" {fixed(time)} and peak memory to that of {fixed(memory)}."
                    ),
                    number["time"],
                    number["memory"],
                ),
                told(
                    lambda time, memory: (
                        "A fused kernel, which never stores the matrix of scores, does the same"
                        f" work with {fixed(time)} and {fixed(memory)}."
                    ),
                    number["fused_time"],
                    number["fused_memory"],
                ),
                told(
                    lambda tokens, limit: (
                        f"Within {significant(limit, 2)} GB the layer runs out of memory at"
                        f" {count(tokens)} tokens."
                    ),
                    results.number(f"{RECORD}#out_of_memory_at"),
                    results.number(f"{RECORD}#memory_limit_gb"),
                ),
                told(
                    lambda _: (
                        "Milliseconds belong to the machine; only ratios and slopes are held"
                        " against the chapter."
                    ),
                    number["time"],
                ),
            ]
        ),
        _table(report),
        figures(
            results,
            ("cost_time", "Both axes logarithmic: a straight line is a power."),
            ("cost_memory", "The fused kernel’s memory is that of the projections."),
        ),
        others(report, "cost", ()),
    )


def _table(report: Report) -> Html | None:
    rows = report.results.value(f"{RECORD}#rows")
    if not rows:
        return None
    claims = [None if name is None else report.results.claim(name) for _, name, _ in COLUMNS]
    groups = [("", 1)]
    headings: list[object] = ["tokens"]
    for (name, _, _), claim in zip(COLUMNS, claims, strict=True):
        headings += [Cell("chapter", NUMERIC)] if claim else []
        headings.append(Cell("ours", NUMERIC))
        groups.append((name, 2 if claim else 1))
    lines = []
    for place, row in enumerate(rows):
        line: list[object] = [count(row["tokens"])]
        for (_, _, keys), claim in zip(COLUMNS, claims, strict=True):
            if claim:
                line.append(Cell(_printed(claim, place), NUMERIC))
            line.append(Cell(_ours(row, keys), NUMERIC))
        lines.append(line)
    return table(
        headings,
        lines,
        caption=_caption(report),
        kind="grid",
        groups=groups,
    )


def _caption(report: Report) -> str:
    try:
        settings = section(report.params, "benchmarks.attention_cost")
    except ParameterError:
        return "One layer"
    return f"One layer, {settings['d_model']} wide, {settings['n_heads']} heads, forward only"


def _printed(claim: Row, place: int) -> str:
    column = claim["printed"]
    value = column[place] if place < len(column) else None
    return "–" if value is None else fixed(value, claim["digits"])


def _ours(row: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    found: Any = row
    for key in keys:
        found = None if found is None else found[key]
    return "out of memory" if found is None else significant(found, 4)
