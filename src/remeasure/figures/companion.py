"""The companion chapter's figures: the residual stream, and the model that sees the answer."""

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import WIDTH, panel, plain_ticks
from remeasure.figures.words import fixed, listed
from remeasure.records.results import Results

RESIDUAL = "metrics/probes/residual_stream.json"

LEAK = (
    ("one_block", "training.perplexity", "with the mask: training text"),
    ("one_block", "held_out.perplexity", "with the mask: held out"),
    ("leak", "training.perplexity", "without it: training text"),
    ("leak", "held_out.perplexity", "without it: held out"),
    ("leak", "evaluated_otherwise.perplexity", "trained without, mask put back"),
)


def residual_stream(results: Results) -> Picture:
    """Length of what each piece wrote into the final vector."""
    pieces = results.value(f"{RESIDUAL}#pieces") or []
    if not pieces:
        return missing("What each piece writes is not measured.")
    figure, axes = panel(WIDTH, 90 + 24 * max(len(pieces), 3))
    names = [piece["name"].replace("_", " ").replace(".", " ") for piece in pieces]
    norms = [piece["norm"] for piece in pieces]
    style = marks.look(0)
    axes.barh(range(len(pieces)), norms, color=style.colour, height=0.6)
    axes.set_yticks(range(len(pieces)), names)
    axes.set_ylim(len(pieces) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("length of what it wrote")
    shown = listed(f"{name} {fixed(norm)}" for name, norm in zip(names, norms, strict=True))
    return Picture(figure, f"Length of what each piece wrote into the residual stream: {shown}.")


def leak(results: Results) -> Picture:
    """Perplexity of a model that was trained without the causal mask, beside one block."""
    rows = [marks.Row(label, results.ablation(name, keys)) for name, keys, label in LEAK]
    figure, axes = panel(WIDTH, 200)
    marks.dot_rows(axes, rows)
    if any(row.ours for row in rows):
        axes.set_xscale("log")
        axes.set_xlim(1, 1.3 * axes.get_xlim()[1])
        plain_ticks(axes.xaxis, [1, 3, 10, 30, 100, 300, 1000, 3000], lambda value: f"{value:g}")
    axes.set_xlabel("perplexity")
    return Picture(figure, marks.rows_in_words("Perplexity", rows))
