"""What figures are made of: rows of dots, bands over seeds, names at the ends of lines.

A filled dot is a mean over our seeds, its bar one standard deviation to both sides. A hollow
diamond in ink is the chapter's own figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from remeasure.figures.style import BAND, LINES, MARKERS, POINTS_PER_INCH, SERIES, colour
from remeasure.figures.words import fixed, with_spread
from remeasure.records.results import Spread

FloatArray = npt.NDArray[np.float64]

LINE_HEIGHT = 13.0
"""Of a name, in points: names closer than this are moved apart."""
ROUNDS = 100
"""Of moving neighbours apart; a few dozen settle any figure here."""


@dataclass(frozen=True)
class Row:
    """A named row of a dot plot."""

    label: str
    ours: Spread | None
    chapter: float | None = None


@dataclass(frozen=True)
class Look:
    """How one series is drawn: by colour, marker and line, so that no one of them is needed."""

    role: str
    marker: str
    line: Any

    @property
    def colour(self) -> str:
        """For matplotlib."""
        return colour(self.role)


def look(index: int) -> Look:
    """The look of the series with that number."""
    kind = index % len(SERIES)
    return Look(SERIES[kind], MARKERS[kind], LINES[kind])


def chapter(axes: Axes, x: Any, y: Any, **options: Any) -> None:
    """The chapter's figure, or figures, as hollow diamonds."""
    axes.plot(
        x,
        y,
        "D",
        markersize=8,
        markerfacecolor="none",
        markeredgecolor=colour("ink"),
        markeredgewidth=1.3,
        zorder=4,
        **options,
    )


def legend(axes: Axes, **options: Any) -> None:
    """A legend that names the chapter last."""
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda index: labels[index].startswith("chapter"))
    axes.legend([handles[i] for i in order], [labels[i] for i in order], **options)


def dot_rows(axes: Axes, rows: Sequence[Row], style: Look | None = None) -> None:
    """One row below the other: dot, bar and diamond; a row without a record says so in its name."""
    style = style or look(0)
    for place, row in enumerate(rows):
        if row.ours is not None:
            axes.errorbar(
                row.ours.mean,
                place,
                xerr=row.ours.std or None,
                fmt=style.marker,
                color=style.colour,
                capsize=3,
                zorder=3,
            )
        if row.chapter is not None:
            chapter(axes, row.chapter, place)
    names = [row.label if row.ours else f"{row.label}: not measured" for row in rows]
    for name, row in zip(axes.set_yticks(range(len(rows)), names), rows, strict=True):
        name.label1.set_color(colour("ink" if row.ours else "muted"))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def rows_in_words(what: str, rows: Sequence[Row], digits: int = 1) -> str:
    """The description of a dot plot."""
    parts = []
    for row in rows:
        ours = "not measured" if row.ours is None else with_spread(row.ours, digits)
        theirs = "" if row.chapter is None else f" (chapter {fixed(row.chapter, digits)})"
        parts.append(f"{row.label} {ours}{theirs}")
    return f"{what}: {'; '.join(parts)}."


def cells(
    axes: Axes, rows: Sequence[Sequence[float]], *, digits: int, show_above: float = 0.0
) -> None:
    """A heat map of numbers between 0 and 1, each written into its cell if above `show_above`."""
    for y, row in enumerate(rows):
        for x, weight in enumerate(row):
            if weight > 0:
                axes.add_patch(
                    Rectangle((x - 0.5, y - 0.5), 1, 1, color=colour("heat"), alpha=weight, lw=0)
                )
            if weight > show_above:
                axes.text(x, y, fixed(weight, digits), ha="center", va="center", fontsize=9)
    axes.set_xlim(-0.5, max(map(len, rows)) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def over_seeds(curve: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean, lowest and highest over seeds at each step that has a value; steps are the index."""
    values = curve.dropna(subset=[column])
    return values.groupby("step")[column].agg(["mean", "min", "max"])


def perplexity(curve: pd.DataFrame) -> pd.DataFrame:
    """The same of the held-out perplexity, from losses in nats."""
    return over_seeds(curve.assign(perplexity=np.exp(curve["held_out_loss"])), "perplexity")


def band(axes: Axes, table: pd.DataFrame, style: Look, **options: Any) -> None:
    """A line through the means, and a band from the lowest seed to the highest."""
    steps = table.index.to_numpy()
    axes.fill_between(
        steps, table["min"], table["max"], color=style.colour, alpha=BAND, linewidth=0
    )
    axes.plot(steps, table["mean"], color=style.colour, linestyle=style.line, **options)


def name_ends(axes: Axes, ends: Sequence[tuple[float, float, str, Look]]) -> None:
    """Write each name right of its line's end (x, y), moved apart where they would overlap.

    To be called last, when the limits of the axes are as they stay.
    """
    height = axes.get_window_extent().height * POINTS_PER_INCH / axes.figure.dpi
    to_fraction = axes.transData + axes.transAxes.inverted()
    wanted = [(float(to_fraction.transform((x, y))[1]), text, style) for x, y, text, style in ends]
    wanted.sort(key=lambda end: end[0])
    places = _apart(np.array([place for place, _, _ in wanted]), LINE_HEIGHT / height)
    for place, (_, text, style) in zip(places, wanted, strict=True):
        axes.annotate(
            text,
            xy=(1, float(place)),
            xycoords="axes fraction",
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=style.colour,
            fontsize=10,
            annotation_clip=False,
        )


def _apart(places: FloatArray, least: float) -> FloatArray:
    """Sorted places, moved as little as needed to be `least` apart."""
    moved = places.copy()
    for _ in range(ROUNDS):
        push = np.clip(least - np.diff(moved), 0, None) / 2
        moved[:-1] -= push
        moved[1:] += push
    return moved
