"""What attention costs as the tokens double, and what keeping keys and values saves."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import BAND, LINES, colour, panel, plain_ticks
from remeasure.figures.words import fixed, significant
from remeasure.records.results import Results

RECORD = "metrics/benchmarks/attention_cost.json"
CACHE = "metrics/benchmarks/kv_cache.json"

WRITTEN_OUT, FUSED, PROJECTIONS = marks.look(1), marks.look(0), marks.look(2)
CACHED, UNCACHED = marks.look(0), marks.look(1)


def cost_time(results: Results) -> Picture:
    """Milliseconds of one layer against the number of tokens, both axes logarithmic."""
    return _cost(
        results,
        "milliseconds, median",
        (
            ("written out", WRITTEN_OUT, ("ms_total", "median"), "time"),
            ("fused kernel", FUSED, ("fused", "ms", "median"), "fused_time"),
            ("projections alone", PROJECTIONS, ("ms_projections", "median"), None),
        ),
        "cost.table.ms_total",
    )


def cost_memory(results: Results) -> Picture:
    """Peak megabytes of one layer against the number of tokens, both axes logarithmic."""
    return _cost(
        results,
        "peak memory, MB",
        (
            ("written out", WRITTEN_OUT, ("peak_mb",), "memory"),
            ("fused kernel", FUSED, ("fused", "peak_mb"), "fused_memory"),
        ),
        "cost.table.peak_mb",
    )


def kv_cache(results: Results) -> Picture:
    """Milliseconds a token against the tokens before it, with and without the cache."""
    rows = results.value(f"{CACHE}#rows") or []
    if not rows:
        return missing("The key-value cache: not measured.")
    figure, axes = panel()
    prefixes = [row["prefix"] for row in rows]
    said = []
    for key, label, style in (
        ("ms_cached", "with the cache", CACHED),
        ("ms_uncached", "without it", UNCACHED),
    ):
        low, middle, high = ([row[key][part] for row in rows] for part in ("low", "median", "high"))
        axes.fill_between(prefixes, low, high, color=style.colour, alpha=BAND, linewidth=0)
        axes.plot(prefixes, middle, color=style.colour, linestyle=style.line, label=label)
        said.append(f"{label} {significant(middle[0])} to {significant(middle[-1])}")
    axes.set_xlim(0, prefixes[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("tokens before it")
    axes.set_ylabel("milliseconds a token")
    axes.legend(loc="upper left")
    words = f"Milliseconds a token, from the first tokens to {prefixes[-1]:g} before it"
    return Picture(figure, f"{words}: {'; '.join(said)}.")


def _cost(
    results: Results,
    label: str,
    lines: Sequence[tuple[str, marks.Look, tuple[str, ...], str | None]],
    claim: str,
) -> Picture:
    rows = results.value(f"{RECORD}#rows") or []
    if not rows:
        return missing(f"Cost of attention, {label}: not measured.")
    figure, axes = panel(410, 310)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    said = []
    for name, style, keys, exponent in lines:
        points = [
            (row["tokens"], value) for row in rows if (value := _inside(row, keys)) is not None
        ]
        if not points:
            continue
        slope = results.number(f"{RECORD}#exponents.{exponent}") if exponent else None
        named = name if slope is None else f"{name}, slope {fixed(slope)}"
        axes.plot(
            *zip(*points, strict=True),
            marker=style.marker,
            linestyle=style.line,
            color=style.colour,
            label=named,
        )
        said.append(f"{named}: {significant(points[0][1])} to {significant(points[-1][1])}")
    said += _out_of_memory(axes, results)
    row = results.claim(claim)
    if row is not None and isinstance(row["printed"], list):
        theirs = [
            (row_of["tokens"], value)
            for row_of, value in zip(rows, row["printed"], strict=False)
            if value is not None
        ]
        marks.chapter(axes, *zip(*theirs, strict=True), label="chapter’s laptop GPU")
    plain_ticks(axes.xaxis, [row["tokens"] for row in rows][::2], lambda value: f"{value:g}")
    plain_ticks(axes.yaxis, [0.1, 1, 10, 100, 1000, 10000, 100000], lambda value: f"{value:,g}")
    axes.set_xlabel("tokens")
    axes.set_ylabel(label)
    marks.legend(axes, loc="upper left", fontsize=9.5)
    return Picture(
        figure,
        f"{label} from {rows[0]['tokens']} to {rows[-1]['tokens']} tokens. {'; '.join(said)}.",
    )


def _out_of_memory(axes: Axes, results: Results) -> list[str]:
    tokens = results.number(f"{RECORD}#out_of_memory_at")
    if tokens is None:
        return []
    axes.axvline(tokens, color=colour("orange"), linewidth=1, linestyle=LINES[2])
    axes.text(
        tokens,
        0.03,
        "out of memory ",
        transform=axes.get_xaxis_transform(),
        rotation=90,
        ha="right",
        va="bottom",
        fontsize=9.5,
        color=colour("orange"),
    )
    return [f"out of memory at {tokens:g} tokens"]


def _inside(row: Mapping[str, Any], keys: Sequence[str]) -> float | None:
    found: Any = row
    for key in keys:
        found = None if found is None else found.get(key)
    return found
