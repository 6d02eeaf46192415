"""Five ways to say where a token is, asked about windows longer than they were trained on."""

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import panel, plain_ticks
from remeasure.figures.words import fixed, listed
from remeasure.records.results import Results

WINDOWS = (64, 128, 256)
ENCODINGS = (
    ("none", "none", marks.look(4)),
    ("learned", "learned", marks.look(1)),
    ("sinusoidal", "sinusoidal", marks.look(3)),
    ("rope", "RoPE", marks.look(2)),
    ("alibi", "ALiBi", marks.look(0)),
)


def window_lengths(results: Results) -> Picture:
    """Held-out perplexity against the length of the window, one line an encoding."""
    figure, axes = panel(560, 320)
    lines = []
    for key, label, style in ENCODINGS:
        values = {
            window: found
            for window in WINDOWS
            if (found := results.ablation(f"positions_{key}", f"by_window.{window}")) is not None
        }
        if values:
            axes.errorbar(
                list(values),
                [found.mean for found in values.values()],
                yerr=[found.std or 0 for found in values.values()],
                marker=style.marker,
                linestyle=style.line,
                color=style.colour,
                capsize=3,
            )
            lines.append((label, values, style))
    if not lines:
        return missing("Perplexity against the window length: not measured.")
    for window in WINDOWS:
        value = results.printed(f"positions.alibi.ppl.{window}")
        if value is not None:
            marks.chapter(axes, window, value)
    axes.set_xscale("log", base=2)
    plain_ticks(axes.xaxis, list(WINDOWS), lambda value: f"{value:g}")
    axes.set_xlim(WINDOWS[0] / 1.06, WINDOWS[-1] * 1.06)
    axes.set_yscale("log")
    plain_ticks(
        axes.yaxis, [40, 45, 50, 60, 80, 100, 150, 200, 300, 500], lambda value: f"{value:g}"
    )
    axes.set_xlabel("tokens in the window; trained on 64")
    axes.set_ylabel("held-out perplexity")
    marks.name_ends(
        axes,
        [(max(values), values[max(values)].mean, label, style) for label, values, style in lines],
    )
    shown = "; ".join(
        f"{label} {listed(f'{fixed(found.mean, 1)} at {n}' for n, found in values.items())}"
        for label, values, _ in lines
    )
    return Picture(figure, f"Held-out perplexity by window length: {shown}.")
