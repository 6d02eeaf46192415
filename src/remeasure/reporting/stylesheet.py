"""The look of the sections inside Jupyter, which knows nothing of the report's own page."""

from pathlib import Path

from remeasure.figures import style, svg
from remeasure.reporting.html import Html
from remeasure.reporting.loading import Report

CONTENT = Path("report/template/content.css")


def colours() -> str:
    """Both colour schemes as CSS."""
    return (
        f":root{{{svg.variables(style.LIGHT)}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{svg.variables(style.DARK)}}}}}"
    )


def stylesheet(report: Report) -> Html:
    """Colours and the looks of tables, badges and figures, for a cell of the notebook."""
    content = (report.root / CONTENT).read_text(encoding="utf-8")
    return Html(f"<style>{colours()}{content}</style>")
