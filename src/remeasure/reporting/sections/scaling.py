"""The division by sqrt(d_k): the section's text, tables and figures."""

from remeasure.figures.scaling import PAIRS, WIDTHS, gain_of
from remeasure.figures.words import fixed, listed, percent, significant
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.machines import mixed
from remeasure.reporting.prose import BANDS, DIAMONDS, MARKED, ppl, told
from remeasure.reporting.verdicts import (
    NUMERIC,
    badge,
    comparison,
    grid,
    number_cell,
    others,
    ours_cell,
    tally,
)

SCORES = tuple(
    (str(d), (f"scaling.score_variance.{d}.variance", f"scaling.score_variance.{d}.std"))
    for d in WIDTHS
)
ROW = tuple(
    (
        str(d),
        tuple(
            f"scaling.row.{d}.{way}.{what}"
            for what in ("largest_weight", "effective_tokens")
            for way in ("divided", "undivided")
        ),
    )
    for d in WIDTHS
)
JACOBIAN = tuple(
    (
        str(d),
        (
            f"scaling.jacobian_trace_divided.{d}",
            f"scaling.jacobian.{d}.undivided.trace",
            f"scaling.jacobian.{d}.divided.frozen_rows",
            "scaling.frozen_rows_undivided_1024"
            if d == WIDTHS[-1]
            else f"scaling.jacobian.{d}.undivided.frozen_rows",
        ),
    )
    for d in WIDTHS
)
RUNAWAY = (
    ("undivided: deviation of the scores before training", "scaling.runaway.score_std_initial"),
    ("undivided: deviation after training", "scaling.runaway.score_std_final"),
    ("undivided: rows with more than 0.99 on one token", "scaling.runaway.rows_over_099"),
    ("undivided: entropy of a row, nats", "scaling.runaway.entropy_final"),
    ("divided: deviation after training", "scaling.divided.score_std_final"),
)
FREEZING = "metrics/probes/softmax_jacobian.json"
WIDEST = "metrics/ablations/scaling_short_1024_undivided.json#attention"


def scaling(report: Report) -> Html:
    """What the scores do without the division, and what that costs."""
    results = report.results
    frozen = results.number(f"{FREEZING}#widths.1024.undivided.frozen_rows")
    start, end = (results.number(f"{WIDEST}.{when}.score_std") for when in ("at_start", "at_end"))
    shown = [
        name for table_rows in (SCORES, ROW, JACOBIAN) for _, names in table_rows for name in names
    ]
    shown += [name for _, name in RUNAWAY] + [pair.claim for pair in PAIRS if pair.claim]
    return join(
        tally(report.rows("scaling")),
        paragraph(
            [
                told(
                    lambda frozen: (
                        f"Undivided scores of width 1024 freeze {percent(frozen)} of all random"
                        " rows before any training: more than 0.99 of the weight lies on one token."
                    ),
                    frozen,
                ),
                _gains(report),
                told(
                    lambda start, end: (
                        "In training, the deviation of the undivided scores at 1024 goes from"
                        f" {significant(start)} to {significant(end)}."
                    ),
                    start,
                    end,
                ),
            ]
        ),
        grid(
            report,
            "width d",
            ("variance of q·k", "deviation of q·k"),
            SCORES,
            "Products of two random vectors",
        ),
        figures(
            results,
            ("score_deviation", "Random pairs of vectors, beside the line √d."),
            ("frozen_rows", "Rows of random scores with more than 0.99 on one token."),
            ("effective_tokens", "The exponential of a row’s entropy, median over the rows."),
        ),
        grid(
            report,
            "width d",
            (
                "largest weight, divided",
                "largest weight, undivided",
                "effective tokens, divided",
                "effective tokens, undivided",
            ),
            ROW,
            "One row of random scores",
        ),
        grid(
            report,
            "width d",
            (
                "trace of the Jacobian, divided",
                "trace, undivided",
                "frozen rows, divided",
                "frozen rows, undivided",
            ),
            JACOBIAN,
            "Means over many rows of random scores",
        ),
        _pairs(report),
        figures(
            results,
            ("division_gain", f"Undivided minus divided, seed by seed. {MARKED} {DIAMONDS}"),
            ("runaway", f"The scores over training. {BANDS} {DIAMONDS}"),
            ("runaway_rows", f"Rows with more than 0.99 on one token. {BANDS} {DIAMONDS}"),
        ),
        comparison(report, RUNAWAY, "The scores at a head width of 1024, short budget"),
        others(report, "scaling", shown),
    )


def _gains(report: Report) -> str | None:
    gains = [(pair, gain) for pair in PAIRS if (gain := gain_of(report.results, pair)) is not None]
    if not gains:
        return None
    parts = listed(
        f"{fixed(gain.mean, 1)} at {pair.width} ({pair.budget} budget)" for pair, gain in gains
    )
    return f"By head width, dividing is worth this many points of perplexity: {parts}."


def _pairs(report: Report) -> Html:
    rows = []
    for pair in PAIRS:
        divided, undivided = (
            report.results.ablation(name, "held_out.perplexity")
            for name in (pair.divided, pair.undivided)
        )
        gain = gain_of(report.results, pair)
        claim = None if pair.claim is None else report.results.claim(pair.claim)
        chapter = "–" if claim is None else fixed(claim["printed"], claim["digits"])
        rows.append(
            [
                f"{pair.width}, {pair.budget}",
                *(
                    number_cell(None if found is None else ppl(found))
                    for found in (divided, undivided)
                ),
                Cell(chapter, NUMERIC),
                ours_cell(report, claim)
                if claim
                else number_cell(None if gain is None else fixed(gain.mean)),
                Cell(str(gain.n) if gain and gain.n else "", NUMERIC),
                Cell(badge(claim) if claim else ""),
            ]
        )
    stages = [f"ablation@{name}" for pair in PAIRS for name in (pair.divided, pair.undivided)]
    return join(
        table(
            ("head width, budget", *(Cell(name, NUMERIC) for name in HEADINGS), "Verdict"),
            rows,
            caption="Held-out perplexity with and without the division",
            kind="comparison",
        ),
        mixed(report, [stages]),
    )


HEADINGS = ("divided", "undivided", "gain, chapter", "gain, ours", "n")
