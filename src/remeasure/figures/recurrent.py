"""Recurrent state: the gradient's way back through a window, and time against its length."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import BAND, LINES, colour, panel, plain_ticks
from remeasure.figures.words import fixed, significant
from remeasure.records.results import Results

PLAIN = "rnn"
"""The run whose gradient passes through one matrix and tanh, and nothing else."""
STATES = ((PLAIN, "RNN", marks.look(1)), ("lstm", "LSTM", marks.look(2)))
ATTENTION = ("attention", "attention", marks.look(0))
RUNS = (*STATES, ATTENTION)
TIMES = "metrics/sequence_cost/sequence_cost.json"
WEIGHTS_ALONE = 3**-0.5
"""What PyTorch's initial hidden-to-hidden matrix makes of a vector's length on average: H entries a
row, uniform between minus and plus 1/sqrt(H), have a variance of 1/(3 H) each."""
SMALLEST = 1e-20
"""Lines go on below; nothing can be learned from what is left there."""
MILLISECONDS = [digit * 10.0**power for power in range(5) for digit in (1, 1.5, 2, 3, 5, 7)]
"""Where the axis may have a tick."""


def gradient_at_start(results: Results) -> Picture:
    """Norms by distance before the first step, with what the RNN's weights alone would do."""
    return _gradient(results, "at_start", "before training", weights_of=PLAIN)


def gradient_at_end(results: Results) -> Picture:
    """Norms by distance after the last step."""
    return _gradient(results, "at_end", "after training")


def sequence_cost(results: Results) -> Picture:
    """Milliseconds of a training step against the length of a window, both axes logarithmic."""
    rows = results.value(f"{TIMES}#rows") or []
    if not rows:
        return missing("Time of a training step against the length of its windows: not measured.")
    figure, axes = panel(410, 310)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    lengths = [row["length"] for row in rows]
    said = []
    for name, label, style in RUNS:
        times = [row["runs"][name]["ms"] for row in rows if name in row["runs"]]
        slope = results.number(f"{TIMES}#exponents.{name}")
        if len(times) < len(rows) or slope is None:
            continue
        low, middle, high = ([ms[part] for ms in times] for part in ("low", "median", "high"))
        named = f"{label}, slope {fixed(slope)}"
        axes.fill_between(lengths, low, high, color=style.colour, alpha=BAND, linewidth=0)
        axes.plot(
            lengths,
            middle,
            marker=style.marker,
            linestyle=style.line,
            color=style.colour,
            label=named,
        )
        said.append(f"{named}: {significant(middle[0])} to {significant(middle[-1])}")
    plain_ticks(axes.xaxis, lengths, lambda value: f"{value:g}")
    plain_ticks(axes.yaxis, MILLISECONDS, lambda value: f"{value:,g}")
    axes.set_xlabel("tokens of a window")
    axes.set_ylabel("milliseconds a step, median")
    _legend_above(axes, columns=1)
    return Picture(
        figure,
        f"Milliseconds of a training step, windows of {lengths[0]} to {lengths[-1]} tokens:"
        f" {'; '.join(said)}.",
    )


def _gradient(results: Results, when: str, words: str, weights_of: str | None = None) -> Picture:
    figure, axes = panel(410, 290)
    said = []
    for name, label, style in RUNS:
        table = _norms(results, name, when)
        if table is None:
            continue
        marks.band(axes, table, style, label=label)
        first, last = table["mean"].loc[1], table["mean"].iloc[-1]
        said.append(
            f"{label} {significant(first)} at distance 1, {significant(last)} at {table.index[-1]}"
        )
        if name == weights_of:
            _weights_alone(axes, table)
    if not said:
        return missing(f"Gradients by distance {words}: not measured.")
    axes.set_yscale("log")
    axes.set_ylim(SMALLEST, 1)
    axes.set_xlim(left=0)
    axes.set_xlabel("distance in tokens")
    axes.set_ylabel(f"norm of the gradient, {words}")
    _legend_above(axes, columns=4)
    return Picture(figure, f"Norm of the gradient by distance {words}: {'; '.join(said)}.")


def _norms(results: Results, name: str, when: str) -> pd.DataFrame | None:
    """Geometric mean, lowest and highest seed at each distance: norms differ by powers of ten."""
    found = results.curve("recurrent", f"{name}_gradient")
    if found is None:
        return None
    rows = found[(found["when"] == when) & (found["median"] > 0)]
    curve = pd.DataFrame({"step": rows["distance"], "log": np.log10(rows["median"])})
    return 10.0 ** marks.over_seeds(curve, "log")


def _weights_alone(axes: Axes, table: pd.DataFrame) -> None:
    distances = table.index[1:].to_numpy()
    axes.plot(
        distances,
        table["mean"].loc[1] * WEIGHTS_ALONE ** (distances - 1.0),
        color=colour("muted"),
        linestyle=LINES[2],
        linewidth=1.2,
        label="weights alone",
    )


def _legend_above(axes: Axes, columns: int) -> None:
    """Clear of the lines, wherever they go."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize=9.5)
