"""A figure with its words: what it shows for those who cannot see it."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from remeasure.figures.style import LINES, colour, panel


@dataclass(frozen=True)
class Picture:
    """`alt` says what is to be seen, with the numbers, computed from the same records."""

    figure: Figure
    alt: str


def missing(alt: str) -> Picture:
    """An empty frame that says so, in place of a figure without a record."""
    figure, axes = panel(height=90)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set(visible=True, color=colour("muted"), linestyle=LINES[1])
    axes.text(
        0.5,
        0.5,
        "not measured",
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=colour("muted"),
    )
    return Picture(figure, alt)
