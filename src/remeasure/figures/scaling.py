"""The division by sqrt(d_k): what grows without it, what freezes, what it buys, what runs away."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import LINES, colour, panel, plain_ticks
from remeasure.figures.words import fixed, listed, percent, significant
from remeasure.records.results import Results, Spread

WIDTHS = (4, 16, 64, 256, 1024)
DIVIDED, UNDIVIDED = marks.look(0), marks.look(1)
WAYS = (("divided", DIVIDED), ("undivided", UNDIVIDED))

VARIANCE = "metrics/probes/score_variance.json#widths"
JACOBIAN = "metrics/probes/softmax_jacobian.json#widths"


@dataclass(frozen=True)
class Pair:
    """Two trained runs that differ in the division alone, and the claim on their difference."""

    budget: str
    width: int
    divided: str
    undivided: str
    claim: str | None = None


PAIRS = (
    Pair("standard", 32, "one_block", "scaling_32_undivided", "scaling.ablation.d32"),
    Pair("standard", 128, "scaling_128_divided", "scaling_128_undivided"),
    Pair("short", 128, "scaling_short_128_divided", "scaling_short_128_undivided"),
    Pair(
        "short",
        256,
        "scaling_short_256_divided",
        "scaling_short_256_undivided",
        "scaling.ablation.d256",
    ),
    Pair(
        "short",
        1024,
        "scaling_short_1024_divided",
        "scaling_short_1024_undivided",
        "scaling.ablation.d1024",
    ),
)

RUNS_AWAY = (
    ("divided, 256", "scaling_short_256_divided", marks.look(2)),
    ("undivided, 256", "scaling_short_256_undivided", marks.look(4)),
    ("divided, 1024", "scaling_short_1024_divided", DIVIDED),
    ("undivided, 1024", "scaling_short_1024_undivided", UNDIVIDED),
)


def score_deviation(results: Results) -> Picture:
    """Standard deviation of q·k against the width, on the line sqrt(d)."""
    measured = _by_width(results, VARIANCE, "std")
    printed = {
        width: value
        for width in WIDTHS
        if (value := results.printed(f"scaling.score_variance.{width}.std")) is not None
    }
    if not measured:
        return missing("The deviation of the scores is not measured.")
    figure, axes = panel()
    _width_axis(axes)
    axes.set_yscale("log")
    plain_ticks(axes.yaxis, [2, 4, 8, 16, 32], lambda value: f"{value:g}")
    ends = np.array([WIDTHS[0], WIDTHS[-1]])
    axes.plot(ends, np.sqrt(ends), color=colour("muted"), linestyle=LINES[1], label="√d")
    axes.plot(*_columns(measured), DIVIDED.marker, color=DIVIDED.colour, label="measured")
    marks.chapter(axes, *_columns(printed), label="chapter")
    axes.set_ylabel("deviation of q·k")
    marks.legend(axes, loc="upper left")
    shown = listed(f"{fixed(value)} at width {width}" for width, value in measured.items())
    return Picture(figure, f"Standard deviation of q·k grows as the square root of d: {shown}.")


def effective_tokens(results: Results) -> Picture:
    """How many of 64 tokens a row really averages over, against the width."""
    return _two_ways(
        results,
        "effective_tokens.median",
        "effective tokens, median row",
        {("undivided", 256): "scaling.effective_tokens_undivided_256"},
        lambda value: fixed(value, 1),
    )


def frozen_rows(results: Results) -> Picture:
    """The share of rows with more than 0.99 of their weight on one token, against the width."""
    return _two_ways(
        results,
        "frozen_rows",
        "share of frozen rows",
        {("undivided", 1024): "scaling.frozen_rows_undivided_1024"},
        percent,
    )


def division_gain(results: Results) -> Picture:
    """Perplexity points that the division buys, against the head width."""
    found = [(pair, gain) for pair in PAIRS if (gain := gain_of(results, pair)) is not None]
    if not found:
        return missing("What the division buys is not measured.")
    figure, axes = panel()
    _width_axis(axes, sorted({pair.width for pair in PAIRS}))
    axes.axhline(0, color=colour("muted"), linewidth=1)
    for index, budget in enumerate(dict.fromkeys(pair.budget for pair in PAIRS)):
        style = marks.look(index)
        points = [(pair, gain) for pair, gain in found if pair.budget == budget]
        if points:
            axes.errorbar(
                [pair.width for pair, _ in points],
                [gain.mean for _, gain in points],
                yerr=[gain.std or 0 for _, gain in points],
                marker=style.marker,
                linestyle=style.line,
                color=style.colour,
                capsize=3,
                label=f"{budget} budget",
            )
    printed = {
        pair.width: value
        for pair in PAIRS
        if pair.claim and (value := results.printed(pair.claim)) is not None
    }
    marks.chapter(axes, *_columns(printed), label="chapter")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("perplexity points")
    marks.legend(axes, loc="upper left")
    shown = listed(
        f"{fixed(gain.mean, 1)} at width {pair.width} ({pair.budget})" for pair, gain in found
    )
    return Picture(figure, f"Perplexity points that dividing buys: {shown}.")


def gain_of(results: Results, pair: Pair) -> Spread | None:
    """Undivided minus divided, seed by seed; None if one of the two is missing."""
    divided, undivided = (
        results.ablation(name, "held_out.perplexity") for name in (pair.divided, pair.undivided)
    )
    if divided is None or undivided is None:
        return None
    ours, theirs = divided.per_seed or {}, undivided.per_seed or {}
    gains = [theirs[seed] - value for seed, value in ours.items() if seed in theirs]
    if not gains:
        return None
    std = float(np.std(gains, ddof=1)) if len(gains) > 1 else None
    return Spread(float(np.mean(gains)), std, len(gains))


def runaway(results: Results) -> Picture:
    """The deviation of the scores over training, divided and not."""
    claims = ("scaling.runaway.score_std_final", "scaling.divided.score_std_final")
    return _over_training(
        results, "score_std", "deviation of the scores", [results.printed(name) for name in claims]
    )


def runaway_rows(results: Results) -> Picture:
    """The share of frozen rows over training, divided and not."""
    return _over_training(
        results,
        "frozen_rows",
        "share of frozen rows",
        [results.printed("scaling.runaway.rows_over_099")],
    )


def _over_training(
    results: Results, column: str, label: str, printed: Sequence[float | None]
) -> Picture:
    curves = [
        (name, marks.over_seeds(curve, column), style)
        for name, run, style in RUNS_AWAY
        if (curve := results.curve("ablations", run)) is not None
    ]
    if not curves:
        return missing(f"The {label} over training: not measured.")
    figure, axes = panel()
    for _, table, style in curves:
        marks.band(axes, table, style)
    last = max(table.index[-1] for _, table, _ in curves)
    for value in printed:
        if value is not None:
            marks.chapter(axes, last, value, clip_on=False)
    if column == "score_std":
        axes.set_yscale("log")
        plain_ticks(axes.yaxis, [0.3, 1, 3, 10, 100, 1000, 10000], lambda value: f"{value:,g}")
        axes.set_ylim(0.3, 20000)
    else:
        axes.set_ylim(-0.02, 1.04)
    axes.set_xlim(0, last)
    axes.set_xlabel("step")
    axes.set_ylabel(label)
    marks.name_ends(
        axes, [(last, table["mean"].iloc[-1], name, style) for name, table, style in curves]
    )
    shown = "; ".join(
        f"{name} from {significant(table['mean'].iloc[0])} to {significant(table['mean'].iloc[-1])}"
        for name, table, _ in curves
    )
    return Picture(figure, f"The {label} over {last} steps of training: {shown}.")


def _two_ways(
    results: Results,
    keys: str,
    label: str,
    claims: dict[tuple[str, int], str],
    shown: Callable[[float], str],
) -> Picture:
    lines = {way: _by_width(results, JACOBIAN, f"{way}.{keys}") for way, _ in WAYS}
    if not any(lines.values()):
        return missing(f"The {label}: not measured.")
    figure, axes = panel()
    _width_axis(axes)
    for way, style in WAYS:
        if lines[way]:
            x, y = _columns(lines[way])
            axes.plot(x, y, style.marker, linestyle=style.line, color=style.colour, label=way)
    for (_, width), claim in claims.items():
        value = results.printed(claim)
        if value is not None:
            marks.chapter(axes, width, value, label="chapter")
    axes.set_ylim(bottom=0)
    axes.set_ylabel(label)
    marks.legend(axes)
    text = "; ".join(
        f"{way} {listed(f'{shown(value)} at {width}' for width, value in line.items())}"
        for way, line in lines.items()
        if line
    )
    return Picture(figure, f"The {label} by width: {text}.")


def _by_width(results: Results, address: str, keys: str) -> dict[int, float]:
    values = {width: results.number(f"{address}.{width}.{keys}") for width in WIDTHS}
    return {width: value for width, value in values.items() if value is not None}


def _columns(values: dict[int, float]) -> tuple[list[int], list[float]]:
    return list(values), list(values.values())


def _width_axis(axes: Axes, widths: Sequence[int] = WIDTHS) -> None:
    axes.set_xscale("log", base=2)
    plain_ticks(axes.xaxis, list(widths), lambda value: f"{value:g}")
    axes.set_xlabel("width of a head")
