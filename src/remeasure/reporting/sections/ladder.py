"""The ladder and dropout: the sections' text, tables and figures."""

from remeasure.figures.ladder import DROPOUT, SHARES
from remeasure.figures.words import count, fixed
from remeasure.records.results import Spread
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import BANDS, DIAMONDS, MARKED, buys, lower, points, ppl, told
from remeasure.reporting.verdicts import NUMERIC, comparison, number_cell, others, tally

BETTER = ("better", "worse")

RUNGS = (
    ("no context", "average.no_context.ppl"),
    ("uniform average, added", "average.uniform_residual.ppl"),
    ("the same with learned positions", "ladder.uniform_residual_positions.ppl"),
    ("one head, replacing the token", "ladder.head_replacing.ppl"),
    ("one head, added", "ladder.head.ppl"),
    ("four heads", "ladder.heads.ppl"),
    ("+ feed-forward layer", "ladder.feed_forward.ppl"),
    ("+ LayerNorm: one block", "ladder.one_block.val_ppl"),
    ("two blocks", "ladder.two_blocks.val_ppl"),
)


def ladder(report: Report) -> Html:
    """What each piece of the block is worth, added one after the other."""
    uniform, replacing, head, heads, unnormed, one, two = (
        report.results.ablation(name, "held_out.perplexity")
        for name in (
            "uniform_residual",
            "head_replacing",
            "head",
            "heads",
            "feed_forward",
            "one_block",
            "two_blocks",
        )
    )
    one_trained, two_trained = (
        report.results.ablation(name, "training.perplexity") for name in ("one_block", "two_blocks")
    )
    return join(
        tally(report.rows("ladder")),
        paragraph(
            [
                told(
                    lambda before, after: (
                        "Letting one head choose its weights"
                        f" {buys(before.mean - after.mean)} over the uniform average."
                    ),
                    uniform,
                    head,
                ),
                told(
                    lambda instead, added: (
                        "The same head in place of the token is"
                        f" {points(instead.mean - added.mean)}"
                        f" {lower(instead.mean, added.mean, BETTER)}."
                    ),
                    replacing,
                    head,
                ),
                told(
                    lambda before, after: f"Cutting it in four {buys(before.mean - after.mean)}.",
                    head,
                    heads,
                ),
                told(
                    lambda before, after: f"A feed-forward layer {buys(before.mean - after.mean)}.",
                    heads,
                    unnormed,
                ),
                told(
                    lambda before, after: (
                        f"LayerNorm {buys(before.mean - after.mean)}:"
                        f" one whole block has {ppl(after)}."
                    ),
                    unnormed,
                    one,
                ),
                told(
                    lambda one, two, one_trained, two_trained: (
                        f"A second block is {points(one_trained.mean - two_trained.mean)}"
                        f" {lower(two_trained.mean, one_trained.mean, BETTER)} on the text it was"
                        f" trained on and {points(one.mean - two.mean)}"
                        f" {lower(two.mean, one.mean, BETTER)} on held-out text."
                    ),
                    one,
                    two,
                    one_trained,
                    two_trained,
                ),
            ]
        ),
        comparison(report, RUNGS, "Held-out perplexity, rung by rung"),
        figures(report.results, ("ladder", f"What each piece is worth. {MARKED} {DIAMONDS}")),
        figures(
            report.results,
            ("learning_curves", f"How they learn; the steep beginning is cut off. {BANDS}"),
        ),
        others(report, "ladder", [name for _, name in RUNGS]),
    )


def dropout(report: Report) -> Html:
    """What dropout does about two blocks that fit the training text too well."""
    lines, best = [], []
    for label, _, names in DROPOUT:
        reached = []
        for share, name in zip(SHARES, names, strict=True):
            training, held_out = (
                report.results.ablation(name, f"{split}.perplexity")
                for split in ("training", "held_out")
            )
            lines.append([f"{label}, dropout {share}", *_numbers(training, held_out)])
            if held_out is not None:
                reached.append((held_out.mean, share))
        if len(reached) == len(SHARES):
            perplexity, share = min(reached)
            best.append(f"Of {label}, a dropout of {share} is best, with {fixed(perplexity)}.")
    return join(
        paragraph(best),
        table(
            ("", *(Cell(name, NUMERIC) for name in ("training", "held out", "±", "n"))),
            lines,
            caption="Perplexity with dropout",
            kind="comparison",
        ),
        figures(
            report.results,
            (
                "overfitting",
                f"Down is better on new text, left on text seen. {MARKED} {DIAMONDS}",
            ),
        ),
    )


def _numbers(training: Spread | None, held_out: Spread | None) -> list[Cell]:
    return [
        number_cell(None if training is None else ppl(training)),
        number_cell(None if held_out is None else ppl(held_out)),
        number_cell("" if held_out is None or held_out.std is None else fixed(held_out.std)),
        number_cell("" if held_out is None or held_out.n is None else count(held_out.n)),
    ]
