"""Recurrent state: the section's text, tables and figures."""

from collections.abc import Sequence

from remeasure.figures.recurrent import ATTENTION, PLAIN, RUNS, STATES, TIMES, WEIGHTS_ALONE
from remeasure.figures.words import count, fixed, listed, significant
from remeasure.records.results import Spread
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.machines import mixed
from remeasure.reporting.prose import lower, points, ppl, times, told
from remeasure.reporting.verdicts import grid

ONE_BLOCK = (
    "recurrent.one_block.parameters",
    "ladder.one_block.train_ppl",
    "ladder.one_block.val_ppl",
)
PERPLEXITIES = "parameters", "training_ppl", "ppl"
GRADIENTS = "at_start.far_over_near", "at_end.far_over_near", "at_start.reach", "at_end.reach"
COSTS = "time_exponent", "time_ratio"


def recurrent(report: Report) -> Html:
    """One hidden state handed on, beside attention: what it learns, reaches and costs."""
    results = report.results
    return join(
        paragraph(
            [
                *_perplexities(report),
                _same_as_one_block(report),
                *_gradients(report),
                _times(report),
            ]
        ),
        grid(
            report,
            "",
            ("parameters", "training perplexity", "held-out perplexity"),
            [*_rows(PERPLEXITIES), ("one block, as an ablation", ONE_BLOCK)],
            "As many parameters, the same text and budget",
        ),
        mixed(report, [("ablation@one_block", f"recurrent@{ATTENTION[0]}")]),
        grid(
            report,
            "",
            ("far over near, before", "after training", "reach, before", "after training"),
            _rows(GRADIENTS),
            _caption(report),
        ),
        grid(
            report,
            "",
            ("slope of time", "longest over shortest"),
            _rows(COSTS),
            "A training step as its windows grow, as many tokens a batch",
        ),
        figures(
            results,
            (
                "gradient_at_start",
                "Lines: median of the windows, geometric mean of our seeds; bands: from the lowest"
                " to the highest. Weights alone: what the RNN’s first ones would do without tanh.",
            ),
            ("gradient_at_end", "The same after training. Lines that leave below go on falling."),
            ("sequence_cost", "Medians, with a band between the quartiles. Both axes logarithmic."),
        ),
    )


def _rows(quantities: Sequence[str]) -> list[tuple[str, list[str]]]:
    return [
        (label, [f"recurrent.{name}.{quantity}" for quantity in quantities])
        for name, label, _ in RUNS
    ]


def _found(report: Report, name: str, keys: str) -> Spread | None:
    return report.results.spread(f"metrics/recurrent/{name}.json#{keys}")


def _perplexities(report: Report) -> list[str | None]:
    attention = _found(report, ATTENTION[0], "held_out.perplexity")
    return [
        told(
            lambda ours, attention, label=label: (
                f"The {label} ends at a held-out perplexity of {ppl(ours)},"
                f" {points(ours.mean - attention.mean)} {lower(ours.mean, attention.mean)}"
                " attention with as many parameters."
            ),
            _found(report, name, "held_out.perplexity"),
            attention,
        )
        for name, label, _ in STATES
    ]


def _same_as_one_block(report: Report) -> str | None:
    """Attention here is the block of the ladder: the same seeds have to end at the same number."""
    here = _found(report, ATTENTION[0], "held_out.perplexity")
    there = report.results.ablation("one_block", "held_out.perplexity")
    if here is None or there is None:
        return None
    ours, theirs = here.per_seed or {}, there.per_seed or {}
    common = sorted(set(ours) & set(theirs))
    if not common:
        return None
    largest = max(abs(ours[seed] - theirs[seed]) for seed in common)
    apart = f"differ by {significant(largest)} at most" if largest else "agree to the last digit"
    return (
        f"Attention is the ladder’s one block, trained once more: over {count(len(common))} common"
        f" seeds the two {apart}."
    )


def _gradients(report: Report) -> list[str | None]:
    reached = [
        f"{fixed(reach.mean, 0)} ({label})"
        for name, label, _ in RUNS
        if (reach := _found(report, name, "gradient.at_end.reach")) is not None
    ]
    return [
        told(
            lambda decay: (
                "Before training each further token leaves"
                f" {fixed(decay.mean, 3)} of the RNN’s gradient; its weights alone, without tanh,"
                f" would leave {fixed(WEIGHTS_ALONE, 3)}."
            ),
            _found(report, PLAIN, "gradient.at_start.decay"),
        ),
        told(
            lambda reached: (
                "After training the longest distance with a hundredth of the gradient at distance 1"
                f" is {listed(reached)}."
            ),
            reached or None,
        ),
    ]


def _times(report: Report) -> str | None:
    rows = report.results.value(f"{TIMES}#rows")
    ratios = [
        f"{times(ratio)} as long ({label})"
        for name, label, _ in RUNS
        if (ratio := report.results.number(f"{TIMES}#longest_over_shortest.{name}")) is not None
    ]
    if not ratios or not rows:
        return None
    return (
        f"From windows of {count(rows[0]['length'])} to {count(rows[-1]['length'])} tokens a"
        f" training step takes {listed(ratios)}."
    )


def _caption(report: Report) -> str:
    far = report.results.number(f"metrics/recurrent/{PLAIN}.json#gradient.far")
    where = "far back" if far is None else f"{count(far)} tokens back"
    return (
        f"Norm of the gradient {where} over that one token back; reach: the longest distance with a"
        " hundredth of it"
    )
