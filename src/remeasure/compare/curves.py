"""The learning curves of `train` on both sides, in a unit that holds for both, and their figure."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from remeasure.compare.comparison import Comparison, Side
from remeasure.figures import marks, style
from remeasure.figures.picture import Picture
from remeasure.figures.style import panel
from remeasure.figures.words import significant

TICKS = (1, 2, 5)
"""Of each power of ten."""


@dataclass(frozen=True)
class Curves:
    """Held-out loss over training steps: mean, lowest and highest seed, by step."""

    label: str
    """What is measured, such as `held-out perplexity`."""
    a: pd.DataFrame
    b: pd.DataFrame


def held_out(comparison: Comparison) -> Curves | None:
    """Both curves as perplexity, or bits per byte where tokens differ; None if one is missing."""
    a, b = comparison.a, comparison.b
    if a.curve is None or b.curve is None:
        return None
    if comparison.train is not None and comparison.train.same_tokens:
        return Curves("held-out perplexity", marks.perplexity(a.curve), marks.perplexity(b.curve))
    one, other = _bits_per_byte(a), _bits_per_byte(b)
    return None if one is None or other is None else Curves("held-out bits per byte", one, other)


def draw(curves: Curves) -> Picture:
    """The two curves over each other, A in the first look, B in the second."""
    with style.applied():
        figure, axes = panel(560, 320)
        sides = (("A", curves.a, marks.look(0)), ("B", curves.b, marks.look(1)))
        for name, table, look in sides:
            marks.band(axes, table, look, marker=look.marker, label=name)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=TICKS))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlim(0, max(table.index[-1] for _, table, _ in sides))
        axes.set_xlabel("step")
        axes.set_ylabel(curves.label)
        axes.legend(loc="upper right")
    ends = "; ".join(
        f"{name} {significant(table['mean'].iloc[-1], 4)} after {table.index[-1]} steps"
        for name, table, _ in sides
    )
    return Picture(figure, f"{curves.label.capitalize()} over training, at the end: {ends}.")


def shown_steps(curves: Curves, most: int) -> list[int]:
    """Steps at which both sides were evaluated, at most so many, the first and the last kept."""
    both = [int(step) for step in curves.a.index if step in set(curves.b.index)]
    if len(both) <= most:
        return both
    last = len(both) - 1
    return [both[round(place * last / (most - 1))] for place in range(most)]


def _bits_per_byte(side: Side) -> pd.DataFrame | None:
    factor = side.bits_per_byte()
    if side.curve is None or factor is None:
        return None
    return marks.over_seeds(side.curve, "held_out_loss") * factor
