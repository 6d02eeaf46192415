"""How one width is shared out: among heads, and between attention and the feed-forward layer."""

from collections.abc import Mapping

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import panel, plain_ticks
from remeasure.figures.words import listed, with_spread
from remeasure.records.results import Results

BLOCK = "heads_4"
"""The chapter's block on the short budget, with which all others are compared."""
HEADS = {1: "heads_1", 2: "heads_2", 4: BLOCK, 8: "heads_8", 16: "heads_16"}
"""The ablation for each number of heads; together they are as wide as the block."""
MULTIPLES = {1: "feed_forward_1", 2: "feed_forward_2", 4: BLOCK, 8: "feed_forward_8"}
"""The ablation for each width of the feed-forward layer, in widths of the block."""


def heads_shared(results: Results) -> Picture:
    """Held-out perplexity against the number of heads."""
    return _against(results, HEADS, "number of heads", marks.look(0))


def feed_forward_shared(results: Results) -> Picture:
    """Held-out perplexity against the feed-forward layer's multiple, parameters nearly equal."""
    axis = "width of the feed-forward layer over the block’s"
    return _against(results, MULTIPLES, axis, marks.look(1))


def _against(results: Results, runs: Mapping[int, str], axis: str, style: marks.Look) -> Picture:
    found = {
        value: perplexity
        for value, name in runs.items()
        if (perplexity := results.ablation(name, "held_out.perplexity")) is not None
    }
    if not found:
        return missing(f"Held-out perplexity against the {axis}: not measured.")
    figure, axes = panel()
    axes.errorbar(
        list(found),
        [perplexity.mean for perplexity in found.values()],
        yerr=[perplexity.std or 0 for perplexity in found.values()],
        marker=style.marker,
        linestyle=style.line,
        color=style.colour,
        capsize=3,
    )
    for value, perplexity in found.items():
        seeds = list((perplexity.per_seed or {}).values())
        axes.plot([value] * len(seeds), seeds, ".", color=style.colour, alpha=0.5)
    axes.set_xscale("log", base=2)
    plain_ticks(axes.xaxis, list(runs), lambda value: f"{value:g}")
    axes.set_xlabel(axis)
    axes.set_ylabel("held-out perplexity")
    shown = listed(f"{with_spread(perplexity)} at {at}" for at, perplexity in found.items())
    return Picture(figure, f"Held-out perplexity against the {axis}: {shown}.")
