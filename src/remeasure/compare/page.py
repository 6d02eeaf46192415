"""The comparison as one HTML file that asks for nothing: light, dark, on a phone, on paper."""

from collections.abc import Iterable
from pathlib import Path

from remeasure.compare import rows, wording
from remeasure.compare.comparison import Comparison, Side
from remeasure.compare.curves import draw, held_out
from remeasure.figures import svg
from remeasure.reporting.html import WIDTH, Cell, Html, escape, join, table, tag
from remeasure.reporting.stylesheet import CONTENT, colours

PAGE = Path("report/template/page.css")
OWN = """
.samples { display: grid; gap: 1rem 2rem; }
.samples pre { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (min-width: 60rem) { .samples { grid-template-columns: 1fr 1fr; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(comparison: Comparison) -> str:
    """The whole file. Reads the report's stylesheets from the working tree."""
    a, b = (side.revision.title for side in (comparison.a, comparison.b))
    sections = {
        "parameters": ("Parameters", _parameters(comparison)),
        "train": ("Train", _train(comparison)),
        "curves": ("Learning curves", _curves(comparison)),
        "others": ("Other records", _others(comparison)),
        "samples": ("Samples", _samples(comparison)),
    }
    links = [tag("li", tag("a", name, href=f"#{place}")) for place, (name, _) in sections.items()]
    body = [
        tag("section", join(tag("h2", name), content), id=place)
        for place, (name, content) in sections.items()
    ]
    main = join(
        tag("h1", f"{comparison.a.revision.name} and {comparison.b.revision.name}"),
        tag("p", f"A: {wording.side(comparison.a)}."),
        tag("p", f"B: {wording.side(comparison.b)}."),
        tag("p", wording.headline(comparison), kind="lead"),
        *(tag("p", note) for note in comparison.notes()),
        *body,
    )
    # Whatever scrolls can be reached with the keyboard; the report's page does this by script.
    main = Html(main.replace('<div class="scroll', '<div tabindex="0" class="scroll'))
    styles = "\n".join([colours(), *(path.read_text("utf-8") for path in (CONTENT, PAGE)), OWN])
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            tag("title", f"{a} and {b}"),
            '<link rel="icon" href="data:,">',
            tag("style", Html(styles)),
            "</head>",
            "<body>",
            tag("a", "To the parameters", href="#parameters", kind="skip"),
            tag("nav", tag("ol", join(*links)), aria_label="Contents"),
            tag("main", main),
            "</body>",
            "</html>",
            "",
        ]
    )


def _parameters(comparison: Comparison) -> Html:
    found = rows.parameters(comparison)
    if not found:
        return tag("p", "No parameter differs.")
    lines = [(Html(f"<code>{escape(name)}</code>"), *values) for name, *values in found]
    return table(("parameter", "A", "B"), lines, caption="Parameters that differ")


def _train(comparison: Comparison) -> Html:
    found = rows.train(comparison)
    if not found:
        return tag("p", "Not measured on both sides.", kind="missing")
    return _numbers("number", found, "Mean and deviation over seeds")


def _curves(comparison: Comparison) -> Html:
    curves = held_out(comparison)
    if curves is None:
        return tag("p", "Not recorded on both sides.", kind="missing")
    picture = Html(svg.inline(draw(curves), "curves"))
    width = WIDTH.search(picture)
    caption = f"{curves.label.capitalize()}. Lines: mean of the seeds; bands: lowest to highest."
    figure = tag(
        "figure",
        join(
            tag("div", picture, kind="scroll picture", role="group", aria_label=caption),
            tag("figcaption", caption),
        ),
        style=f"--natural:{width[1] if width else 0}px",
    )
    return tag("div", figure, kind="figures")


def _others(comparison: Comparison) -> Html:
    found = rows.others(comparison)
    lines = [tag("p", line) for line in rows.alone(comparison)]
    if not found and not lines:
        return tag("p", "No number of an ablation, another trained run or a probe differs.")
    shown = _numbers("number", found, "Numbers that differ") if found else None
    return join(shown, *lines)


def _samples(comparison: Comparison) -> Html:
    sides = (("A", comparison.a), ("B", comparison.b))
    return tag("div", join(*(_sample(letter, side) for letter, side in sides)), kind="samples")


def _sample(letter: str, side: Side) -> Html:
    sample = side.sample
    text = (
        tag("p", sample.reason, kind="missing") if sample.text is None else tag("pre", sample.text)
    )
    return tag("div", join(tag("h3", f"{letter}: {side.revision.name}"), text))


def _numbers(name: str, found: Iterable[rows.Row], caption: str) -> Html:
    headings = (name, *(Cell(heading, "number") for heading in rows.METRICS))
    lines = [(first, *(Cell(escape(cell), "number") for cell in rest)) for first, *rest in found]
    return table(headings, lines, caption=caption)
