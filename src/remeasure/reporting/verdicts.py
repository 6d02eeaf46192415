"""The chapter's figures beside ours: cells, badges and tables made from rows of the ledger."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from remeasure.figures.words import MINUS, count, counted, fixed, significant
from remeasure.ledger.verdicts import Verdict
from remeasure.reporting.html import Cell, Html, escape, join, link, table, tag
from remeasure.reporting.loading import Report, Row
from remeasure.reporting.machines import by_group, mixed

SIGNS = {
    Verdict.REPRODUCED: "✓",
    Verdict.CLOSE: "≈",
    Verdict.CONTRADICTED: "✗",
    Verdict.UNDERPOWERED: "?",
    Verdict.NOT_MEASURED: "–",
}
"""So that no verdict is told by its colour alone."""

NUMERIC = "number"
HEADINGS = (*(Cell(name, NUMERIC) for name in ("Chapter", "Ours", "±", "n")), "Verdict")
PAIRS = ", "
"""Between the pairs of an order."""
HYPHEN_MINUS = re.compile(r"(?<!\w)-(?=\d)")
"""A minus before a number; that of an exponent, as in 1e-06, stays as it is."""
LOST = ("lost", "stood in a table that the chapter’s text has lost")
NOTHING = Cell(str(tag("span", "not measured", kind="missing")), NUMERIC, math.inf)


def kind_of(verdict: str) -> str:
    """The CSS class of a verdict."""
    return f"verdict {verdict.replace(' ', '-')}"


def badge(row: Row, *, word: bool = True) -> Html:
    """The verdict of a claim, linked to its row in the ledger; its sign alone without `word`."""
    verdict = row["verdict"]
    sign = f'<span aria-hidden="true">{SIGNS[Verdict(verdict)]}</span> '
    name = escape(verdict) if word else str(tag("span", verdict, kind="for-readers"))
    return link(anchor(row), Html(sign + name), kind_of(verdict))


def anchor(row: Row) -> str:
    """Where a claim or finding stands in the ledger."""
    return f"claim-{row['id']}"


def tally(rows: Sequence[Row]) -> Html | None:
    """How many of the claims have which verdict, in one line."""
    parts = []
    for verdict in Verdict:
        count = sum(row["verdict"] == verdict for row in rows)
        if count:
            sign = f'<span aria-hidden="true">{SIGNS[verdict]}</span> '
            parts.append(tag("li", Html(f"{sign}{count} {verdict}"), kind=kind_of(verdict)))
    return tag("ul", Html("".join(parts)), kind="tally") if parts else None


def comparison(
    report: Report, rows: Sequence[tuple[str, str]], caption: str, first: str = ""
) -> Html:
    """A line a claim or finding, (label, id) each: chapter, ours, spread, n, verdict."""
    found = [(label, report.results.claim(name)) for label, name in rows]
    lines = [(label, row) for label, row in found if row is not None]
    return join(
        table(
            (first, *HEADINGS),
            [(label, *comparison_cells(report, row)) for label, row in lines],
            caption=caption,
            kind="comparison",
        ),
        mixed(report, by_group(stage for _, row in lines for stage in row["stages"])),
    )


def others(report: Report, section: str, shown: Sequence[str]) -> Html | None:
    """The claims of a section that none of its other tables shows."""
    rows = [(row["what"], row["id"]) for row in report.rows(section) if row["id"] not in shown]
    return comparison(report, rows, "What else the chapter says") if rows else None


def grid(
    report: Report,
    first: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    caption: str,
) -> Html:
    """Claims and findings in two dimensions: (label, id for each column) a row.

    A column has the chapter's figures beside ours if the chapter prints one of them.
    """
    found = [(label, [report.results.claim(name) for name in names]) for label, names in rows]
    printed = [
        any("printed" in (cells[place] or {}) for _, cells in found)
        for place in range(len(columns))
    ]
    headings: list[object] = [first]
    groups: list[tuple[str, int]] = [("", 1)]
    for name, has_chapter in zip(columns, printed, strict=True):
        headings += [_head("chapter"), _head("ours")] if has_chapter else [_head("ours")]
        groups.append((name, 1 + has_chapter))
    body = []
    for label, cells in found:
        line: list[object] = [label]
        for row, has_chapter in zip(cells, printed, strict=True):
            if has_chapter:
                line.append(printed_cell(row))
            line.append(ours_cell(report, row))
        body.append(line)
    stages = (stage for _, cells in found for row in cells if row for stage in row["stages"])
    return join(
        table(headings, body, caption=caption, kind="grid", groups=groups),
        mixed(report, by_group(stages)),
    )


def printed_cell(row: Row | None) -> Cell:
    """What the chapter prints, or that it is lost."""
    value = None if row is None else row.get("printed")
    if row is None or value is None:
        lost = row is not None and row.get("lost")
        word, why = LOST if lost else ("–", "no figure to compare with")
        return Cell(tag("span", word, kind="missing", title=why), NUMERIC, math.inf)
    text = printed(row)
    if isinstance(value, str):
        return Cell(escape(text), "words", text)
    return Cell(escape(text), NUMERIC, value if isinstance(value, int | float) else math.inf)


def number_cell(text: str | None) -> Cell:
    """A number as it is, or the words that it is not measured."""
    return NOTHING if text is None else Cell(escape(text), NUMERIC)


def ours_cell(report: Report, row: Row | None) -> Cell:
    """Our number with its spread, and the sign of the verdict."""
    measured = None if row is None else report.measured(row)
    if row is None or measured is None:
        return NOTHING
    text = _value(row, measured)
    if measured.get("std"):
        text += f" ± {_rounded(measured['std'], _digits(row, measured))}"
    if row.get("verdict") == Verdict.NOT_MEASURED:
        return Cell(tag("span", text, kind="missing", title="does not count"), NUMERIC)
    sign = f" {badge(row, word=False)}" if "verdict" in row else ""
    return Cell(f"{escape(text)}{sign}", NUMERIC)


def ours_in_words(report: Report, row: Row) -> str:
    """Our number with its spread and the number of seeds.

    A measurement may find none: the step at which a seed settled, if no seed did.
    """
    measured = report.measured(row)
    if measured is None:
        return "not measured" if row["reason"] else "none"
    text, n = _value(row, measured), _seeds(measured)
    if measured.get("std"):
        text += f" ± {_rounded(measured['std'], _digits(row, measured))}"
    return text if n is None else f"{text} ({counted(n, 'seed')})"


def printed(row: Row) -> str:
    """What the chapter prints, with its digits; a table by its first and last entry."""
    value = row["printed"]
    if isinstance(value, str):
        return value
    return _ends(value, row) if isinstance(value, list) else _plain(value, row)


def comparison_cells(report: Report, row: Row) -> tuple[Cell, ...]:
    """Chapter, ours, spread, number of seeds, verdict with its reason."""
    measured = report.measured(row)
    chapter = printed_cell(row)
    verdict = _verdict(row) if "verdict" in row else Cell("", "", math.inf)
    if measured is None:
        return chapter, NOTHING, Cell("", NUMERIC), Cell("", NUMERIC), verdict
    ours = Cell(_on_lines(_value(row, measured)) + _sign(row), NUMERIC, sortable(measured))
    std, n = measured.get("std"), _seeds(measured)
    spread = "" if not isinstance(std, int | float) else _rounded(std, _digits(row, measured))
    return chapter, ours, Cell(spread, NUMERIC), Cell("" if n is None else str(n), NUMERIC), verdict


def _sign(row: Row) -> str:
    """The verdict's sign beside our number, shown where the column of verdicts is out of sight."""
    if "verdict" not in row:
        return ""
    verdict = row["verdict"]
    kind = f"{kind_of(verdict)} sign"
    return f" {tag('span', SIGNS[Verdict(verdict)], kind=kind, aria_hidden='true')}"


def _verdict(row: Row) -> Cell:
    words = HYPHEN_MINUS.sub(MINUS, row["reason"] or "")
    reason = tag("span", words, kind="reason") if words else None
    return Cell(join(badge(row), reason), "", list(Verdict).index(row["verdict"]))


def sortable(measured: Row) -> float:
    """What a column of our numbers is sorted by."""
    value = measured.get("mean", measured.get("value"))
    return value if isinstance(value, int | float) else math.inf


def _value(row: Row, measured: Row) -> str:
    if "pairs" in measured:
        return PAIRS.join(map(_pair, measured["pairs"]))
    value = measured.get("mean", measured.get("value"))
    if isinstance(value, Mapping):
        return _ends(list(value.values()), row)
    if isinstance(value, list):
        return _ends(value, row)
    if not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    return _rounded(value, _digits(row, measured))


def _on_lines(text: str) -> str:
    """Several pairs one below the other."""
    return escape(text).replace(PAIRS, ",<br>")


def _ends(values: Sequence[Any], row: Row) -> str:
    """A table in a word: its first and its last number."""
    flat = [value for value in values if isinstance(value, int | float)]
    if not flat:
        return f"{len(values)} rows"
    first, last = (
        count(value) if isinstance(value, int) else fixed(value, row.get("digits") or 1)
        for value in (flat[0], flat[-1])
    )
    return f"{first} … {last}"


def _pair(pair: Mapping[str, Any]) -> str:
    smaller, larger = pair["smaller"]["mean"], pair["larger"]["mean"]
    sign = "<" if smaller < larger else "≥"
    return f"{significant(smaller)} {sign} {significant(larger)}"


def _seeds(measured: Row) -> int | None:
    if "pairs" in measured:
        return min(side["n"] for pair in measured["pairs"] for side in pair.values())
    found = measured.get("n")
    return found if isinstance(found, int) else None


def _digits(row: Row, measured: Row) -> int | None:
    """Decimals to show: those that are printed, or as many as the size asks for.

    None for numbers that are read by their power of ten.
    """
    value = abs(measured.get("mean", measured.get("value")) or 0.0)
    if 0 < value < 1e-3:
        return None
    size = 0 if value == 0 else math.floor(math.log10(value))
    return max(row.get("digits") or 0, 0 if size >= 3 else 2 if size >= 0 else 3)


def _rounded(value: float, digits: int | None) -> str:
    return significant(value) if digits is None else fixed(value, digits)


def _plain(value: float, row: Row) -> str:
    return significant(value) if 0 < abs(value) < 1e-3 else fixed(value, row["digits"])


def _head(text: str) -> Cell:
    return Cell(text, NUMERIC)
