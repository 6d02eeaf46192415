"""Three norms, each asked about the same windows in every way."""

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import colour, panel, plain_ticks
from remeasure.figures.words import listed, with_spread
from remeasure.records.results import Results

KINDS = (
    ("layer", "LayerNorm", marks.look(0)),
    ("rms", "RMSNorm", marks.look(2)),
    ("batch", "BatchNorm", marks.look(1)),
)
MODES = (
    ("whole.evaluation.batch", "evaluation mode, whole windows, a batch"),
    ("whole.evaluation.single", "evaluation mode, whole windows, one"),
    ("token.evaluation.batch", "evaluation mode, token by token, a batch"),
    ("token.evaluation.single", "evaluation mode, token by token, one"),
    ("whole.training.batch", "training mode, whole windows, a batch"),
    ("whole.training.single", "training mode, whole windows, one"),
    ("token.training.batch", "training mode, token by token, a batch"),
    ("token.training.single", "training mode, token by token, one"),
)
APART = 0.22
"""Between the norms of one row, in rows."""
TICKS = [20.0, 30, 40, 45, 50, 60, 70, 80, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000]


def record(kind: str, keys: str) -> str:
    """The address of a number of a run."""
    return f"metrics/normalisation/{kind}.json#{keys}"


def is_undefined(results: Results, kind: str, keys: str) -> bool:
    """Whether a mode was asked for and has no number, since it is not defined for that norm."""
    measured = f"metrics/normalisation/{kind}.json" in results.records
    return measured and results.spread(record(kind, f"modes.{keys}")) is None


def norm_modes(results: Results) -> Picture:
    """Held-out perplexity by norm and by the way of asking, a marker a norm."""
    figure, axes = panel(620, 380)
    said: list[str] = []
    for place, (keys, label) in enumerate(MODES):
        parts = []
        for index, (kind, name, style) in enumerate(KINDS):
            found = results.spread(record(kind, f"modes.{keys}"))
            if found is not None:
                axes.errorbar(
                    found.mean,
                    place + APART * (index - 1),
                    xerr=found.std or None,
                    fmt=style.marker,
                    color=style.colour,
                    capsize=3,
                    label=name if not any(name in part for part in said) else None,
                )
                parts.append(f"{name} {with_spread(found, 1)}")
            elif is_undefined(results, kind, keys):
                axes.annotate(
                    f"{name}: not defined",
                    xy=(0.5, place + APART * (index - 1)),
                    xycoords=axes.get_yaxis_transform(),
                    ha="center",
                    va="center",
                    color=style.colour,
                    fontsize=10,
                )
                parts.append(f"{name} not defined")
        if parts:
            said.append(f"{label}: {listed(parts)}")
    if not said:
        return missing("Perplexity by norm and mode: not measured.")
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, TICKS, lambda value: f"{value:g}")
    axes.set_yticks(range(len(MODES)), [label for _, label in MODES])
    axes.set_ylim(len(MODES) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.axhline(3.5, color=colour("grid"), linewidth=1)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("held-out perplexity")
    marks.legend(axes)
    return Picture(figure, f"Held-out perplexity, {'; '.join(said)}.")
