"""The comparison on a terminal, readable at 100 columns."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from remeasure.compare import rows, wording
from remeasure.compare.comparison import Comparison
from remeasure.compare.curves import held_out
from remeasure.compare.samples import Sample

WIDTH = 100
"""Of output that is no terminal, such as a file or a log."""
LINES = 12
"""Of each sample; the page has all."""


def console() -> Console:
    """Standard output, as wide as the terminal is."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=WIDTH)


def show(comparison: Comparison, output: Console) -> None:
    """Names, notes, parameters, metrics, curves, samples."""
    sides = (("A", comparison.a), ("B", comparison.b))
    for letter, side in sides:
        output.print(Text.assemble((letter, "bold"), f"  {wording.side(side)}"))
    output.print(Text(wording.headline(comparison)))
    for note in comparison.notes():
        output.print(Text(f"Note: {note}", style="yellow"))
    table(output, ("parameter", "A", "B"), rows.parameters(comparison))
    table(output, ("train", *rows.METRICS), rows.train(comparison))
    curves = held_out(comparison)
    if curves is not None:
        table(output, (curves.label, "A", "B"), rows.curves(curves))
    table(output, ("other records", *rows.METRICS), rows.others(comparison))
    for line in rows.alone(comparison):
        output.print(Text(f"\n{line}"))
    written = [_beginning(side.sample) for _, side in sides]
    table(output, ("sample of A", "sample of B"), [written], width=(output.width - 4) // 2)


def table(
    output: Console, headings: Sequence[str], lines: Iterable[rows.Row], width: int | None = None
) -> None:
    """A table without lines; nothing if it has no row."""
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        shown.add_column(heading, overflow="fold", width=width)
    for line in lines:
        shown.add_row(*map(Text, line))
    if shown.rows:
        output.print()
        output.print(shown)


def _beginning(sample: Sample) -> str:
    if sample.text is None:
        return sample.reason
    lines = sample.text.splitlines()
    return "\n".join([*lines[:LINES], "…"] if len(lines) > LINES else lines)
