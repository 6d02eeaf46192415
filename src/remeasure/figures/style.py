"""One look for all figures: colours by role, in two schemes, and what matplotlib is told.

Figures are drawn in the light scheme; `svg` then turns each role's colour into a CSS variable, so
that one file is right in both. The hues are those of Okabe and Ito (2008), which survive the common
kinds of colour blindness, made darker or lighter until text in them passes WCAG AA on the page.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

LIGHT = {
    "surface": "#ffffff",
    "ink": "#1b1f24",
    "muted": "#5b626b",
    "grid": "#e3e5e8",
    "heat": "#5ab5ea",
    "blue": "#166cae",
    "orange": "#b34f17",
    "green": "#0d5940",
    "purple": "#9f357f",
    "gold": "#593f0d",
}
DARK = {
    "surface": "#15181c",
    "ink": "#e8eaed",
    "muted": "#a5adb7",
    "grid": "#31363d",
    "heat": "#0b66a3",
    "blue": "#86b7ff",
    "orange": "#ff8c5a",
    "green": "#35e2b4",
    "purple": "#db94c6",
    "gold": "#e5ce48",
}
SERIES = ("blue", "orange", "green", "purple", "gold")
MARKERS = ("o", "s", "^", "D", "v")
LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1)))
"""The same order as SERIES: a series is told apart by more than its colour."""

BAND = 0.18
"""Opacity of a band over seeds."""
POINTS_PER_INCH = 72
WIDTH, HEIGHT = 400, 270
"""Of a panel, in points, which are CSS pixels where it is shown in full size."""


def colour(role: str) -> str:
    """What to give matplotlib for a role."""
    return LIGHT[role]


@contextmanager
def applied() -> Iterator[None]:
    """Matplotlib's own defaults with ours on top, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_settings())
        yield


def panel(width: float = WIDTH, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """A figure of one pair of axes, `width` x `height` points."""
    figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH))
    return figure, figure.subplots()


def plain_ticks(axis: Any, values: list[float], label: Callable[[float], str] = str) -> None:
    """Ticks at `values` only, written as `label` says, on any scale."""
    axis.set_major_locator(FixedLocator(values))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_formatter(NullFormatter())


def _settings() -> Any:
    """What differs from matplotlib's defaults; it types the keys as a list of literals."""
    ink, muted = LIGHT["ink"], LIGHT["muted"]
    return {
        "figure.constrained_layout.use": True,
        "font.size": 11,
        "text.color": ink,
        "axes.edgecolor": muted,
        "axes.labelcolor": ink,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "grid.color": LIGHT["grid"],
        "grid.linewidth": 0.8,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "legend.frameon": False,
        "legend.fontsize": 10,
        "svg.fonttype": "none",
        "svg.hashsalt": "remeasure",
    }
