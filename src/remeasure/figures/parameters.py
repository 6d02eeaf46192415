"""Where the parameters are: in one block's model, and in GPT-2 small."""

from collections.abc import Mapping

from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import colour, panel
from remeasure.figures.words import count, listed, percent
from remeasure.records.results import Results

RECORD = "metrics/probes/parameters.json"
GPT2 = {
    "token_embeddings": "token embeddings",
    "position_embeddings": "position embeddings",
    "blocks": "twelve blocks",
    "final_layernorm": "final LayerNorm",
}


def parameters_one_block(results: Results) -> Picture:
    """Parameters of the chapter's one-block model, part by part."""
    parts = results.value(f"{RECORD}#one_block") or {}
    counts = {
        name.replace("_", " ").replace("layernorm", "LayerNorm"): value
        for name, value in parts.items()
        if name != "total"
    }
    return _bars(counts, "One block, width 128")


def parameters_gpt2(results: Results) -> Picture:
    """Parameters of GPT-2 small, part by part."""
    counts = {
        label: value
        for name, label in GPT2.items()
        if (value := results.value(f"{RECORD}#gpt2.{name}")) is not None
    }
    return _bars(counts, "GPT-2 small")


def _bars(counts: Mapping[str, int], title: str) -> Picture:
    if not counts:
        return missing(f"{title}: parameters by part are not measured.")
    figure, axes = panel(410, 60 + 27 * max(len(counts), 3))
    axes.set_title(title)
    total = sum(counts.values())
    axes.barh(range(len(counts)), list(counts.values()), color=colour("blue"), height=0.6)
    for place, value in enumerate(counts.values()):
        axes.annotate(
            f"{count(value)} · {percent(value / total)}",
            (value, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
        )
    axes.set_yticks(range(len(counts)), list(counts))
    axes.set_ylim(len(counts) - 0.5, -0.5)
    axes.set_xlim(0, 1.75 * max(counts.values()))
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    shown = listed(f"{name} {count(value)}" for name, value in counts.items())
    return Picture(figure, f"{title}, {count(total)} parameters: {shown}.")
