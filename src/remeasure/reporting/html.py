"""Pieces of HTML. Text is escaped; what is an Html already stays as it is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape as escape_text

from remeasure.figures.catalogue import draw_inline
from remeasure.records.results import Results

WIDTH = re.compile(r'\bwidth="([\d.]+)"')


class Html(str):
    """Markup that a notebook shows as it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<HTML, {len(self):,} characters>"


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is more than its text."""

    content: str
    kind: str = ""
    """Its CSS classes."""
    sort: float | str | None = None
    """What a sortable table goes by, where that is not the text."""


@dataclass(frozen=True)
class Line:
    """A row of a table that other places refer to, or that a script filters."""

    cells: Sequence[object]
    id: str
    data: Mapping[str, str]
    """Its data- attributes."""


def escape(text: object) -> Html:
    """Text as markup; what is markup already stays as it is, so that nothing is escaped twice."""
    return text if isinstance(text, Html) else Html(escape_text(str(text), quote=True))


def join(*parts: str | None) -> Html:
    """The parts one below the other, without those that are None."""
    return Html("\n".join(escape(part) for part in parts if part))


def tag(name: str, content: object = "", **attributes: object) -> Html:
    """An element. `kind` is its class, `_` in a name is `-`, None leaves an attribute out."""
    shown = "".join(
        f' {"class" if key == "kind" else key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return Html(f"<{name}{shown}>{escape(content)}</{name}>")


def link(target: str, text: object, kind: str = "") -> Html:
    """A link to a place on the same page."""
    return tag("a", text, href=f"#{target}", kind=kind)


def paragraph(sentences: Iterable[str | None], kind: str = "") -> Html:
    """The sentences that are there, as one paragraph; if there is none, it says why."""
    there = [escape(sentence) for sentence in sentences if sentence]
    if not there:
        return tag("p", "Not enough of this is measured yet to say more.", kind="missing")
    return tag("p", Html(" ".join(there)), kind=kind)


def figures(results: Results, *shown: tuple[str, str]) -> Html:
    """Figures side by side where there is room: (name, caption) each."""
    return tag(
        "div",
        Html("".join(_figure(results, name, caption) for name, caption in shown)),
        kind="figures",
    )


def table(
    headings: Sequence[object],
    rows: Iterable[Sequence[object] | Line],
    *,
    caption: str,
    kind: str = "",
    groups: Sequence[tuple[str, int]] = (),
) -> Html:
    """A table that scrolls inside itself. The first cell of a row names the row.

    `groups` is a row above the headings: (text, number of columns) each.
    """
    head = [tag("tr", Html("".join(_heading(cell) for cell in headings)))]
    if groups:
        spanning = (
            tag("th", text, colspan=span, scope="colgroup") if text else tag("td", colspan=span)
            for text, span in groups
        )
        head.insert(0, tag("tr", Html("".join(spanning))))
    body = map(_line, rows)
    inner = (
        f"<caption><span>{escape(caption)}</span></caption>"
        f"<thead>{''.join(head)}</thead><tbody>{''.join(body)}</tbody>"
    )
    return tag(
        "div",
        tag("table", Html(inner), kind=kind),
        kind="scroll",
        role="group",
        aria_label=caption,
    )


def _figure(results: Results, name: str, caption: str) -> Html:
    """The width is the picture's own, so that text has one size in all figures."""
    picture = Html(draw_inline(name, results))
    width = WIDTH.search(picture)
    scrolling = tag("div", picture, kind="scroll picture", role="group", aria_label=caption)
    return tag(
        "figure",
        Html(scrolling + tag("figcaption", Html(caption))),
        id=f"figure-{name}",
        style=f"--natural:{width[1] if width else 0}px",
    )


def _heading(cell: object) -> Html:
    if cell == "":
        return tag("td")
    if isinstance(cell, Cell):
        return tag("th", Html(cell.content), scope="col", kind=cell.kind)
    return tag("th", cell, scope="col")


def _line(row: Sequence[object] | Line) -> Html:
    if not isinstance(row, Line):
        return tag("tr", Html("".join(_cells(row))))
    data = {f"data_{name}": value for name, value in row.data.items()}
    return tag("tr", Html("".join(_cells(row.cells))), id=row.id, **data)


def _cells(row: Sequence[object]) -> Iterable[Html]:
    for place, cell in enumerate(row):
        content, kind, sort = (
            (Html(cell.content), cell.kind, cell.sort)
            if isinstance(cell, Cell)
            else (cell, "", None)
        )
        if place == 0:
            yield tag("th", content, scope="row", kind=kind, data_sort=sort)
        else:
            yield tag("td", content, kind=kind, data_sort=sort)
