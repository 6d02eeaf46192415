"""The ledger on a terminal: claim, chapter, measured, verdict, stage; readable at 100 columns."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from remeasure.ledger.affected import Affected
from remeasure.ledger.costs import to_settle
from remeasure.ledger.difference import Change
from remeasure.ledger.verdicts import Verdict

COLUMNS = {"claim": 28, "chapter": 13, "measured": 22, "verdict": 12, "stage": 21}
"""Headings and widths, in characters; one blank stands between columns."""
WIDTH = 100
"""Of all columns together, and of output that is no terminal, such as a file or a log."""

STYLES = {
    Verdict.REPRODUCED: "green",
    Verdict.CLOSE: "cyan",
    Verdict.CONTRADICTED: "bold red",
    Verdict.UNDERPOWERED: "yellow",
    Verdict.NOT_MEASURED: "dim",
}
Row = Mapping[str, Any]


def console() -> Console:
    """Standard output, as wide as the terminal is."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=WIDTH)


def show(rows: Sequence[Row], output: Console) -> None:
    """The table by section, the reasons of what is not reproduced, and the counts."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    widths = _widths(output.width)
    for name, width in widths.items():
        table.add_column(name, overflow="fold", width=width)
    section = None
    for row in rows:
        if row["section"] != section:
            section = row["section"]
            table.add_row(Text(section, style="bold underline"))
        table.add_row(*_cells(row, widths))
    output.print(table)
    _reasons(rows, output)
    output.print(Text(f"\n{counts(rows)}"))


def counts(rows: Iterable[Row]) -> str:
    """How many rows of each verdict, in words."""
    verdicts = [row["verdict"] for row in rows]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in Verdict)


def show_affected(found: Affected, output: Console) -> None:
    """Stages with their recorded times, and claims, that a change puts at risk."""
    unknown = [name for name in found.stages if name not in found.seconds]
    output.print(Text(f"{found.target}: stages {len(found.stages)}, claims {len(found.claims)}"))
    for name in found.stages:
        output.print(Text(f"  {name:<44} {_duration(found.seconds.get(name))}"))
    if found.claims:
        output.print(Text("claims at risk:"))
        output.print(Text("  " + ", ".join(found.claims)))
    if found.stages:
        cost = _duration(sum(found.seconds.values()))
        missing = f", and {len(unknown)} whose time is not on record" if unknown else ""
        output.print(Text(f"measuring again: {len(found.seconds)} stages in {cost}{missing}"))


def show_changes(found: Sequence[Change], revision: str, output: Console) -> None:
    """Verdicts that differ from those of a commit, with the numbers behind both."""
    if not found:
        output.print(Text(f"no verdict differs from {revision}"))
    for change in found:
        row = change.after or change.before or {}
        output.print(Text(f"{change.id} (chapter: {printed(row)})"))
        for when, side in ((f"at {revision}", change.before), ("now", change.after)):
            output.print(Text.assemble(f"  {when:<12} ", *_side(side)))


def printed(row: Row) -> str:
    """What the chapter prints, with its digits."""
    value, digits = row["printed"], row["digits"]
    return _ends(value) if isinstance(value, list) else _plain(value, digits)


def measured(row: Row) -> str:
    """What we measured: a number, or a mean with its spread and the number of seeds."""
    found = row["measured"]
    if found is None:
        return "–"
    if "pairs" in found:
        return ", ".join(_pair(pair) for pair in found["pairs"])
    if "mean" not in found:
        value = found["value"]
        return _ends(value) if isinstance(value, list | Mapping) else _significant(value)
    return _spread(found, row["digits"])


def _widths(width: int) -> dict[str, int]:
    """A wider terminal gives its room to the two columns of names."""
    more = max(0, width - WIDTH) // 2
    return COLUMNS | {name: COLUMNS[name] + more for name in ("claim", "stage")}


def _cells(row: Row, widths: Mapping[str, int]) -> list[Text]:
    verdict = Verdict(row["verdict"])
    return [
        Text(_folded("  " + row["id"].removeprefix(f"{row['section']}."), widths["claim"])),
        Text(printed(row)),
        Text(measured(row)),
        Text(verdict, style=STYLES[verdict]),
        Text("\n".join(_folded(stage, widths["stage"]) for stage in row["stages"])),
    ]


def _side(row: Row | None) -> tuple[tuple[str, str], str]:
    if row is None:
        return ("no such claim", "dim"), ""
    verdict = Verdict(row["verdict"])
    return (f"{verdict:<13}", STYLES[verdict]), measured(row)


def _reasons(rows: Sequence[Row], output: Console) -> None:
    for verdict in list(Verdict)[1:]:
        by_reason: dict[str, list[str]] = {}
        for row in rows:
            if row["verdict"] == verdict:
                reason = "; ".join(filter(None, (row["reason"], to_settle(row))))
                by_reason.setdefault(reason, []).append(row["id"])
        if by_reason:
            output.print(Text(f"\n{verdict}", style=STYLES[verdict]))
        for reason, ids in by_reason.items():
            output.print(Text(f"  {', '.join(ids)}: {reason}"))


def _ends(values: Any) -> str:
    """The first and the last number of a list or mapping; of a matrix, its number of rows."""
    entries = list(values.values()) if isinstance(values, Mapping) else values
    there = [entry for entry in entries if entry is not None]
    if any(isinstance(entry, list) for entry in there):
        return f"{len(there)} rows"
    return f"{_significant(there[0])} … {_significant(there[-1])}"


def _folded(name: str, width: int) -> str:
    """A name on lines of at most `width` characters, broken after a dot, an underscore or an @."""
    lines = [""]
    for part in re.findall(r"[^._@]+[._@]*", name):
        if len(lines[-1]) + len(part) > width and lines[-1].strip():
            lines.append("    ")
        lines[-1] += part
    return "\n".join(lines)


def _spread(found: Row, digits: int) -> str:
    mean, std, n = found["mean"], found["std"], found["n"]
    shown = max(digits, 2) if abs(mean) < 1000 else digits
    middle = f"{round(mean, shown) + 0.0:.{shown}f}"  # no minus before a zero
    return f"{middle} (n {n})" if std is None else f"{middle} ± {std:.{shown}f} (n {n})"


def _pair(pair: Row) -> str:
    smaller, larger = pair["smaller"], pair["larger"]
    sign = "<" if smaller["mean"] < larger["mean"] else "≥"
    n = min(smaller["n"], larger["n"])
    return f"{_significant(smaller['mean'])} {sign} {_significant(larger['mean'])} (n {n})"


def _plain(value: Any, digits: int) -> str:
    if isinstance(value, str) or value is None:
        return value or "–"
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.2e}"
    return f"{value:,.{digits}f}"


def _significant(value: float) -> str:
    if value == 0 or isinstance(value, int):
        return f"{value:,.0f}"
    size = math.floor(math.log10(abs(value)))
    return f"{value:.2e}" if size < -3 else f"{value:,.{max(0, 3 - size)}f}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
