"""Heads, tying, and the feed-forward share: the section's text, table and figures."""

from collections.abc import Mapping

from remeasure.figures.shares import BLOCK, HEADS, MULTIPLES, TIED
from remeasure.figures.words import count, fixed, listed, percent, with_spread
from remeasure.records.results import Spread
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import buys, ppl, told
from remeasure.reporting.sections.seeds import HELD_OUT, OVER_SEEDS, Gain, gain_of
from remeasure.reporting.verdicts import NUMERIC, number_cell

MARKED = "Dots: seeds, and their mean with one standard deviation."
WHOLE = "the block: four heads, four times as wide, untied"
VARIANTS = (
    ("1 head", HEADS[1]),
    *((f"{heads} heads", HEADS[heads]) for heads in (2, 8, 16)),
    ("embeddings and output layer tied", TIED),
    *((f"feed-forward layer {n} × as wide", MULTIPLES[n]) for n in (1, 2, 8)),
)
"""What is compared with the block."""
HEADINGS = ("parameters", "perplexity", "n", "minus the block’s", "95 % interval")


def shares(report: Report) -> Html:
    """What the number of heads, tied embeddings and the feed-forward layer's width are worth."""
    return join(
        paragraph(
            [
                _ranked(
                    report, HEADS, "Number of heads, at one width and with the same parameters"
                ),
                _tied(report),
                _ranked(
                    report,
                    MULTIPLES,
                    "Width of the feed-forward layer over the block’s, with nearly the same"
                    " parameters",
                ),
                *_told_apart(report),
            ]
        ),
        figures(
            report.results,
            ("heads_shared", f"Heads that share out one width. {MARKED}"),
            ("feed_forward_shared", f"A wider feed-forward layer, a narrower block. {MARKED}"),
        ),
        table(
            ("", *(Cell(name, NUMERIC) for name in HEADINGS), "over seeds"),
            [
                [*_measured(report, WHOLE, BLOCK), number_cell(""), number_cell(""), ""],
                *(
                    [*_measured(report, label, name), *_compared(report, label, name)]
                    for label, name in VARIANTS
                ),
            ],
            caption="Short budget; differences are paired by seed, not corrected for their number",
            kind="comparison",
        ),
    )


def _perplexity(report: Report, name: str) -> Spread | None:
    return report.results.ablation(name, HELD_OUT)


def _against_block(report: Report, label: str, name: str) -> Gain:
    """By how much the block itself is lower."""
    return gain_of(report, (label, name, BLOCK, HELD_OUT, None))


def _ranked(report: Report, runs: Mapping[int, str], what: str) -> str | None:
    """Which of them has the lowest mean, and which the highest; only if all are measured."""
    found = {value: _perplexity(report, name) for value, name in runs.items()}
    means = {value: spread.mean for value, spread in found.items() if spread is not None}
    if len(means) < len(runs):
        return None
    best, worst = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return (
        f"{what}: the mean perplexity is lowest at {best} ({fixed(means[best])}) and highest at"
        f" {worst} ({fixed(means[worst])})."
    )


def _tied(report: Report) -> str | None:
    tied, block = (report.results.ablation(name, "parameters") for name in (TIED, BLOCK))
    return told(
        lambda after, before, tied, block: (
            f"Tying the embeddings to the output layer saves {count(block.mean - tied.mean)}"
            f" parameters, {percent(1 - tied.mean / block.mean, 0)} of all, and"
            f" {buys(before.mean - after.mean)}: {ppl(after)} after {ppl(before)}."
        ),
        _perplexity(report, TIED),
        _perplexity(report, BLOCK),
        tied,
        block,
    )


def _told_apart(report: Report) -> list[str]:
    """Which of the runs differ from the block by more than the seeds do."""
    gains = [_against_block(report, label, name) for label, name in VARIANTS]
    return [
        f"{words}: {listed(labels)}."
        for holds, words in (
            (True, "Over seeds, told apart from the block"),
            (False, "Not told apart from chance"),
        )
        if (labels := [gain.label for gain in gains if gain.holds is holds])
    ]


def _measured(report: Report, label: str, name: str) -> list[object]:
    parameters, found = report.results.ablation(name, "parameters"), _perplexity(report, name)
    return [
        label,
        number_cell(None if parameters is None else count(parameters.mean)),
        number_cell(None if found is None else with_spread(found)),
        number_cell(str(found.n) if found and found.n else ""),
    ]


def _compared(report: Report, label: str, name: str) -> list[object]:
    gain = _against_block(report, label, name)
    if not gain.differences:
        return [number_cell(""), number_cell(""), ""]
    interval = ""
    if gain.reach is not None:
        interval = f"{fixed(gain.mean - gain.reach)} to {fixed(gain.mean + gain.reach)}"
    return [number_cell(fixed(gain.mean)), number_cell(interval), OVER_SEEDS[gain.holds]]
