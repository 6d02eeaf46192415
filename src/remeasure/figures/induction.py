"""Induction heads: how the loss on repeats falls, and how the heads that make it fall come up."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import LINES, colour, panel
from remeasure.figures.words import fixed
from remeasure.records.results import Results

RUNS = (
    ("one_layer", "one layer", marks.look(1)),
    ("two_layers", "two layers", marks.look(0)),
    ("one_layer_fixed_period", "one layer, one period", marks.look(2)),
)
BASELINES = (
    ("uniform_loss", "every token alike"),
    ("tokens_seen_loss", "only which were seen"),
    ("one_token_match_loss", "an ideal head"),
)
"""Losses that need no training: all tokens as likely, those seen, those that followed this one."""
EXPECTED = "metrics/induction/two_layers.json#baselines"
ROOM_BELOW = -0.3
"""Where the axis of losses starts: three lines end near zero, and their names need the room."""
BASELINE = marks.Look("muted", "", LINES[2])


@dataclass(frozen=True)
class Best:
    """The highest score of any head of one layer, and what uniform attention would have."""

    run: str
    layer: int
    score: str
    label: str
    style: marks.Look


BEST = (
    Best("two_layers", 1, "previous_token", "layer 1 of 2: token before", marks.look(3)),
    Best("two_layers", 2, "prefix_matching", "layer 2 of 2: prefix matching", marks.look(0)),
    Best("one_layer", 1, "prefix_matching", "the only layer: prefix matching", marks.look(1)),
)


def induction_loss(results: Results) -> Picture:
    """Loss on repeats over training, a line a seed, beside what needs no training."""
    figure, axes = panel(560, 320)
    ends, said = [], []
    for name, label, style in RUNS:
        curve = results.curve("induction", name)
        if curve is not None:
            last, end = _lines(axes, curve.assign(shown=curve["repeat_loss"]), style)
            ends.append((last, end, label, style))
            said.append(f"{label} ends at {fixed(end)} on average")
    if not ends:
        return missing("The loss on repeats over training: not measured.")
    right = max(last for last, *_ in ends)
    for key, label in BASELINES:
        value = results.number(f"{EXPECTED}.{key}")
        if value is not None:
            axes.axhline(value, color=colour("muted"), linewidth=1, linestyle=LINES[2])
            ends.append((right, value, label, BASELINE))
            said.append(f"without training, {label}: {fixed(value)}")
    axes.set_xlim(0, right)
    axes.set_ylim(bottom=ROOM_BELOW)
    axes.set_xlabel("step")
    axes.set_ylabel("loss on repeats, nats")
    marks.name_ends(axes, ends)
    return Picture(figure, f"Loss on repeats over training, a line a seed: {'; '.join(said)}.")


def induction_heads(results: Results) -> Picture:
    """The best head's scores over training, a line a seed, beside those of uniform attention."""
    figure, axes = panel(560, 300)
    ends, said = [], []
    for best in BEST:
        curve = results.curve("induction", best.run)
        if curve is None:
            continue
        columns = head_columns(curve, best.score, best.layer)
        last, end = _lines(axes, curve.assign(shown=curve[columns].max(axis=1)), best.style)
        ends.append((last, end, best.label, best.style))
        said.append(f"{best.label} ends at {fixed(end)} on average")
    if not ends:
        return missing("The scores of the heads over training: not measured.")
    for score, words in (
        ("prefix_matching", "prefix matching"),
        ("previous_token", "token before"),
    ):
        value = results.number(f"{EXPECTED}.uniform_{score}")
        if value is not None:
            axes.axhline(value, color=colour("muted"), linewidth=1, linestyle=LINES[2])
            said.append(f"uniform attention has {fixed(value)} for {words}")
    axes.set_xlim(0, max(last for last, *_ in ends))
    axes.set_ylim(0, 1)
    axes.set_xlabel("step")
    axes.set_ylabel("share of attention weight")
    marks.name_ends(axes, ends)
    return Picture(figure, f"The best head of each layer over training: {'; '.join(said)}.")


def head_columns(curve: pd.DataFrame, score: str, layer: int) -> Sequence[str]:
    """The columns of all heads of a layer for one score."""
    return [name for name in curve.columns if name.startswith(f"{score}_layer{layer}_head")]


def _lines(axes: Axes, curve: pd.DataFrame, style: marks.Look) -> tuple[float, float]:
    """Draw the column `shown`, a line a seed; returns the last step and the mean there."""
    rows = curve.dropna(subset=["shown"])
    for _, seed in rows.groupby("seed"):
        axes.plot(seed["step"], seed["shown"], color=style.colour, linestyle=style.line, lw=1.2)
    last = rows["step"].max()
    return float(last), float(rows.loc[rows["step"] == last, "shown"].mean())
