"""Heads, tying, and the feed-forward share: the section's text, table and figures."""

from collections.abc import Mapping

from remeasure.figures.shares import BLOCK, HEADS, MULTIPLES
from remeasure.figures.words import count, fixed, listed, percent, with_spread
from remeasure.records.results import Spread
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import buys, ppl, told
from remeasure.reporting.sections.seeds import HELD_OUT, OVER_SEEDS, Gain, gain
from remeasure.reporting.verdicts import NUMERIC, number_cell

MARKED = "Dots: seeds, and their mean with one standard deviation."
WHOLE = "the block: four heads, four times as wide, untied"
Run = tuple[str, str]
"""A family of results, and the name of one in it."""

WHOLE_RUN: Run = ("ablations", BLOCK)
TIED: Run = ("ablations", "tied")
SCALED_TIED: Run = ("scaled_embedding", "tied")
SCALED: Run = ("scaled_embedding", "untied")
VARIANTS: tuple[tuple[str, Run], ...] = (
    ("1 head", ("ablations", HEADS[1])),
    *((f"{heads} heads", ("ablations", HEADS[heads])) for heads in (2, 8, 16)),
    ("tied embeddings", TIED),
    ("tied scaled embeddings", SCALED_TIED),
    ("untied scaled embeddings", SCALED),
    *((f"feed-forward layer {n} × as wide", ("ablations", MULTIPLES[n])) for n in (1, 2, 8)),
)
"""What is compared with the block."""
TYINGS = (
    (
        "With the embeddings as PyTorch draws them, with a deviation of one, which the output layer"
        " then starts with",
        WHOLE_RUN,
        TIED,
    ),
    (
        "With scaled embeddings, drawn √d_model times smaller and multiplied by as much when they"
        " are read (Vaswani et al. 2017)",
        SCALED,
        SCALED_TIED,
    ),
)
"""How the embeddings are drawn, untied and tied."""
HEADINGS = (
    "parameters",
    "training",
    "held out",
    "n",
    "difference",
    "95 % interval",
)


def shares(report: Report) -> Html:
    """What the number of heads, tied embeddings and the feed-forward layer's width are worth."""
    return join(
        paragraph(
            [
                _ranked(
                    report, HEADS, "Number of heads, at one width and with the same parameters"
                ),
            ]
        ),
        paragraph(
            [
                _saved(report),
                *(_tied(report, *tying) for tying in TYINGS),
                _scaled(report),
            ]
        ),
        paragraph(
            [
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
                [*_measured(report, WHOLE, WHOLE_RUN), number_cell(""), number_cell(""), ""],
                *(
                    [*_measured(report, label, run), *_compared(report, label, run)]
                    for label, run in VARIANTS
                ),
            ],
            caption="Perplexity on the short budget; differences to the block are paired by seed,"
            " not corrected for their number",
            kind="comparison",
        ),
    )


def _number(report: Report, run: Run, keys: str = HELD_OUT) -> Spread | None:
    family, name = run
    return report.results.spread(f"metrics/{family}/{name}.json#{keys}")


def _against_block(report: Report, label: str, run: Run) -> Gain:
    """By how much the block itself is lower."""
    return gain(label, _number(report, run), _number(report, WHOLE_RUN))


def _ranked(report: Report, runs: Mapping[int, str], what: str) -> str | None:
    """Which of them has the lowest mean, and which the highest; only if all are measured."""
    found = {value: _number(report, ("ablations", name)) for value, name in runs.items()}
    means = {value: spread.mean for value, spread in found.items() if spread is not None}
    if len(means) < len(runs):
        return None
    best, worst = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return (
        f"{what}: the mean perplexity is lowest at {best} ({fixed(means[best])}) and highest at"
        f" {worst} ({fixed(means[worst])})."
    )


def _saved(report: Report) -> str | None:
    return told(
        lambda tied, block: (
            "Tying the embeddings to the output layer saves"
            f" {count(block.mean - tied.mean)} parameters,"
            f" {percent(1 - tied.mean / block.mean, 0)} of all."
        ),
        _number(report, TIED, "parameters"),
        _number(report, WHOLE_RUN, "parameters"),
    )


def _tied(report: Report, how: str, untied: Run, tied: Run) -> str | None:
    """What tying does to the perplexity, beside where its training starts."""
    return told(
        lambda after, before, start: (
            f"{how}, it {buys(before.mean - after.mean)} ({ppl(after)} after {ppl(before)});"
            f" the loss before the first step is {fixed(start, 1)} nats."
        ),
        _number(report, tied),
        _number(report, untied),
        _first_loss(report, tied),
    )


def _scaled(report: Report) -> str | None:
    """The scaled embedding is another experiment even where nothing is tied."""
    return told(
        lambda after, before: (
            f"Scaling alone, untied, {buys(before.mean - after.mean)}: the model starts"
            " with the same logits, and a step of AdamW moves what the blocks read √d_model times"
            " as far."
        ),
        _number(report, SCALED),
        _number(report, WHOLE_RUN),
    )


def _first_loss(report: Report, run: Run) -> float | None:
    """Held out, in nats, before the first step; mean over the seeds."""
    curve = report.results.curve(*run)
    return None if curve is None else float(curve[curve["step"] == 0]["held_out_loss"].mean())


def _told_apart(report: Report) -> list[str]:
    """Which of the runs differ from the block by more than the seeds do."""
    gains = [_against_block(report, label, run) for label, run in VARIANTS]
    return [
        f"{words}: {listed(labels)}."
        for holds, words in (
            (True, "Over seeds, told apart from the block"),
            (False, "Not told apart from chance"),
        )
        if (labels := [found.label for found in gains if found.holds is holds])
    ]


def _measured(report: Report, label: str, run: Run) -> list[object]:
    parameters, training, found = (
        _number(report, run, keys) for keys in ("parameters", "training.perplexity", HELD_OUT)
    )
    return [
        label,
        number_cell(None if parameters is None else count(parameters.mean)),
        number_cell(None if training is None else with_spread(training)),
        number_cell(None if found is None else with_spread(found)),
        number_cell(str(found.n) if found and found.n else ""),
    ]


def _compared(report: Report, label: str, run: Run) -> list[object]:
    found = _against_block(report, label, run)
    if not found.differences:
        return [number_cell(""), number_cell(""), ""]
    holds = Cell(OVER_SEEDS[found.holds], "nowrap")
    return [number_cell(fixed(found.mean)), number_cell(found.interval), holds]
