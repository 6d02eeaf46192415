"""Where the LayerNorm sits: gradients before any step, and four runs of twelve blocks."""

import numpy as np

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import panel, plain_ticks
from remeasure.figures.words import fixed
from remeasure.records.results import Results, as_spread

GRADIENTS = "metrics/probes/gradient_norms.json"
ARRANGEMENTS = (("pre", "pre-norm", marks.look(0)), ("post", "post-norm", marks.look(1)))

RUNS = (
    ("norm_pre", "pre-norm", marks.look(0), "norm.pre.no_warmup.ppl"),
    ("norm_pre_warmup", "pre-norm, warmup", marks.look(2), "norm.pre.warmup200.ppl"),
    ("norm_post", "post-norm", marks.look(1), "norm.post.no_warmup.ppl"),
    ("norm_post_warmup", "post-norm, warmup", marks.look(3), "norm.post.warmup200.ppl"),
)


def gradient_output_projection(results: Results) -> Picture:
    """Gradient norm of each block's output projection: the matrix that the chapter's size fits."""
    return _gradients(results, "output_projection", "gradient norm, output projection")


def gradient_block(results: Results) -> Picture:
    """Gradient norm of each whole block."""
    return _gradients(results, "block", "gradient norm, whole block")


def _gradients(results: Results, part: str, label: str) -> Picture:
    figure, axes = panel()
    said = []
    for key, name, style in ARRANGEMENTS:
        norms = results.value(f"{GRADIENTS}#{key}.{part}.norms") or []
        found = [spread for norm in norms if (spread := as_spread(norm)) is not None]
        if not found:
            continue
        blocks = np.arange(1, len(found) + 1)
        axes.errorbar(
            blocks,
            [norm.mean for norm in found],
            yerr=[norm.std or 0 for norm in found],
            marker=style.marker,
            linestyle=style.line,
            color=style.colour,
            capsize=2,
            label=name,
        )
        said.append(f"{name} from {fixed(found[0].mean, 4)} to {fixed(found[-1].mean, 4)}")
        if part == "output_projection":
            ends = (results.printed(f"norm.{key}.grad_norm.{end}") for end in ("first", "last"))
            for block, value in zip((blocks[0], blocks[-1]), ends, strict=True):
                if value is not None:
                    marks.chapter(axes, block, value)
    if not said:
        return missing(f"The {label}: not measured.")
    axes.set_ylim(bottom=0)
    axes.set_xticks([1, 4, 8, 12])
    axes.set_xlabel("block")
    axes.set_ylabel(label)
    marks.legend(axes)
    return Picture(figure, f"The {label}, by block before training: {'; '.join(said)}.")


def norm_runs(results: Results) -> Picture:
    """Held-out perplexity over training of the four arrangements, twelve blocks deep."""
    curves = [
        (label, marks.perplexity(curve), style, claim)
        for name, label, style, claim in RUNS
        if (curve := results.curve("ablations", name)) is not None
    ]
    if not curves:
        return missing("Pre-norm and post-norm over training: not measured.")
    figure, axes = panel(560, 300)
    last = max(table.index[-1] for _, table, _, _ in curves)
    for _, table, style, claim in curves:
        marks.band(axes, table, style)
        printed = results.printed(claim)
        if printed is not None:
            marks.chapter(axes, last, printed, clip_on=False)
    axes.set_yscale("log")
    plain_ticks(axes.yaxis, [30, 50, 100, 200, 400, 800, 1600], lambda value: f"{value:g}")
    axes.set_xlim(0, last)
    axes.set_xlabel("step")
    axes.set_ylabel("held-out perplexity")
    marks.name_ends(
        axes, [(last, table["mean"].iloc[-1], label, style) for label, table, style, _ in curves]
    )
    ends = "; ".join(f"{label} {fixed(table['mean'].iloc[-1], 1)}" for label, table, *_ in curves)
    return Picture(figure, f"Held-out perplexity of twelve blocks after {last} steps: {ends}.")
