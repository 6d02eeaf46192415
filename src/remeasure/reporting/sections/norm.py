"""Where the LayerNorm sits: the section's text, tables and figures."""

from remeasure.figures.words import fixed
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import BANDS, DIAMONDS, lower, points, ppl, times, told
from remeasure.reporting.verdicts import comparison, grid, others, tally

ENDS = ("first", "last", "ratio")
GRADIENTS = tuple(
    (f"{name}-norm", tuple(f"norm.{name}.grad_norm.{end}" for end in ENDS))
    for name in ("pre", "post")
)
RUNS = (
    ("pre-norm, no warmup", "norm.pre.no_warmup.ppl"),
    ("pre-norm, 200 steps of warmup", "norm.pre.warmup200.ppl"),
    ("post-norm, no warmup", "norm.post.no_warmup.ppl"),
    ("post-norm, 200 steps of warmup", "norm.post.warmup200.ppl"),
)
RATIOS = "metrics/probes/gradient_norms.json"


def norm(report: Report) -> Html:
    """Gradients before any step, and four runs of twelve blocks."""
    results = report.results
    pre, post, post_warm = (
        results.ablation(name, "held_out.perplexity")
        for name in ("norm_pre", "norm_post", "norm_post_warmup")
    )
    ratios = [
        results.spread(f"{RATIOS}#{name}.{part}.ratio")
        for part in ("output_projection", "block")
        for name in ("pre", "post")
    ]
    return join(
        tally(report.rows("norm")),
        paragraph(
            [
                told(
                    lambda *r: (
                        "In the last block the gradient of the output projection is"
                        f" {fixed(r[0].mean)} times that in the first with pre-norm and"
                        f" {fixed(r[1].mean)} times with post-norm; over the whole block it is"
                        f" {fixed(r[2].mean)} and {fixed(r[3].mean)} times."
                    ),
                    *ratios,
                ),
                told(
                    lambda pre, post: (
                        f"Trained without warmup, post-norm ends at {ppl(post)},"
                        f" {times(post.mean / pre.mean)} the {ppl(pre)} of pre-norm."
                    ),
                    pre,
                    post,
                ),
                told(
                    lambda pre, post_warm: (
                        f"With warmup it ends at {ppl(post_warm)},"
                        f" {points(post_warm.mean - pre.mean)}"
                        f" {lower(post_warm.mean, pre.mean)} pre-norm without."
                    ),
                    pre,
                    post_warm,
                ),
            ]
        ),
        grid(
            report,
            "",
            ("block 1", "block 12", "last over first"),
            GRADIENTS,
            "Gradient norm of the output projection at initialisation",
        ),
        figures(
            results,
            (
                "gradient_output_projection",
                "The chapter does not say which gradient it took; its sizes are those of one"
                " attention matrix, such as this.",
            ),
            ("gradient_block", "The same over all the parameters of a block."),
        ),
        comparison(report, RUNS, "Held-out perplexity of twelve blocks"),
        figures(results, ("norm_runs", f"{BANDS} {DIAMONDS}")),
        others(
            report,
            "norm",
            [name for _, names in GRADIENTS for name in names] + [name for _, name in RUNS],
        ),
    )
