"""The ledger: every figure of the chapters, to be sorted and filtered where scripts run."""

import math
from collections.abc import Iterable

from remeasure.figures.words import count, significant
from remeasure.reporting.html import (
    Cell,
    Html,
    Line,
    escape,
    join,
    link,
    paragraph,
    table,
    tag,
)
from remeasure.reporting.loading import Report, Row
from remeasure.reporting.verdicts import NUMERIC, anchor, comparison_cells, ours_in_words

SECTIONS = {
    "corpus": "the text",
    "average": "the average",
    "scaling": "dividing by √d",
    "ladder": "the ladder",
    "parameters": "parameters",
    "norm": "LayerNorm",
    "positions": "positions",
    "cost": "cost",
    "referent": "who is meant",
    "recurrent": "recurrent state",
    "masked": "what is hidden",
    "normalisation": "norms",
    "seq2seq": "one vector",
    "equivalence": "against PyTorch",
    "companion": "the companion",
    "induction": "looking back twice",
    "shares": "heads, tying, feed-forward",
}


def ledger(report: Report) -> Html:
    """All claims, then what was measured though no chapter prints it."""
    return join(_lost(report), _claims(report), _findings(report))


def _lost(report: Report) -> Html | None:
    rows = [row for row in report.findings() if row["lost"]]
    if not rows:
        return None
    measured = sum(row["measured"] is not None for row in rows)
    return paragraph(
        [
            f"{count(len(rows))} numbers stood in tables that the main chapter’s text has lost."
            f" {count(measured)} of them are measured: in the tables above, with the word lost in"
            " the chapter’s place, and at the end of this section."
        ]
    )


def _claims(report: Report) -> Html:
    headings = (
        "Figure",
        "Verdict",
        *(Cell(name, NUMERIC) for name in ("Chapter", "Ours", "±", "n", "Interval", "p")),
        "Section",
        "Stages",
    )
    lines = [_line(report, row) for row in report.rows()]
    controls = tag("div", "", id="ledger-controls", kind="controls", hidden="hidden")
    return join(
        controls,
        table(headings, lines, caption="Every figure of the two chapters", kind="ledger tall"),
    )


def _line(report: Report, row: Row) -> Line:
    *numbers, verdict = comparison_cells(report, row)
    cells = (
        Cell(join(escape(row["what"]), tag("code", row["id"])), sort=row["id"]),
        verdict,
        *numbers,
        _interval(row),
        _p_value(row),
        Cell(_section(row), sort=row["section"]),
        Cell(_stages(report, row)),
    )
    return Line(cells, anchor(row), {"verdict": row["verdict"], "section": row["section"]})


def _findings(report: Report) -> Html | None:
    rows = report.findings()
    if not rows:
        return None
    lines = [
        Line(
            (
                join(escape(row["what"]), tag("code", row["id"])),
                Cell(_section(row)),
                "lost" if row["lost"] else "",
                Cell(escape(ours_in_words(report, row)), NUMERIC),
                Cell(_stages(report, row)),
            ),
            anchor(row),
            {},
        )
        for row in rows
    ]
    summary = tag("summary", f"{len(rows)} more numbers that no chapter prints")
    headings = ("Number", "Section", "Chapter", Cell("Ours", NUMERIC), "Stages")
    shown = table(headings, lines, caption="Measured, and printed nowhere")
    return tag("details", join(summary, shown))


def _section(row: Row) -> Html:
    return link(row["section"], SECTIONS.get(row["section"], row["section"]))


def _stages(report: Report, row: Row) -> Html:
    names: Iterable[Html] = (
        link(f"stage-{stage}", stage) if report.ran(stage) else tag("span", stage)
        for stage in row["stages"]
    )
    return Html("<br>".join(names))


def _interval(row: Row) -> Cell:
    if row["interval"] is None:
        return Cell("", NUMERIC, math.inf)
    low, high = row["interval"]
    return Cell(f"{significant(low)} to {significant(high)}", NUMERIC, low)


def _p_value(row: Row) -> Cell:
    value = row["p_value"]
    if value is None:
        return Cell("", NUMERIC, math.inf)
    return Cell(significant(value, 2), NUMERIC, value)
