"""The average: the section's text, tables and figures."""

from remeasure.figures.words import fixed, significant
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import DIAMONDS, MARKED, buys, lower, ppl, times, told
from remeasure.reporting.verdicts import comparison, others, tally

ROWS = (
    ("no context", "average.no_context.ppl"),
    ("average replaces the token", "average.uniform.ppl"),
    ("the same, with learned positions", "average.uniform_positions.ppl"),
    ("average added to the token", "average.uniform_residual.ppl"),
)


def average(report: Report) -> Html:
    """What an unweighted average of the context is worth."""
    results = report.results
    none, alone, positions, added = (
        results.ablation(name, "held_out.perplexity")
        for name in ("no_context", "uniform", "uniform_positions", "uniform_residual")
    )
    shuffled = results.number("metrics/probes/averaging.json#shuffle.max_diff")
    return join(
        tally(report.rows("average")),
        paragraph(
            [
                told(
                    lambda none, alone: (
                        f"A model that sees no context at all has a held-out perplexity of"
                        f" {ppl(none)}. Give it the uniform average of its context in place of the"
                        f" token, and it has {ppl(alone)}, {times(alone.mean / none.mean)} as much."
                    ),
                    none,
                    alone,
                ),
                told(
                    lambda alone, positions: (
                        "Learned positions, added before the average,"
                        f" {_buy(alone.mean - positions.mean)}."
                    ),
                    alone,
                    positions,
                ),
                told(
                    lambda none, added: (
                        f"Added to the token, the average ends at {ppl(added)},"
                        f" {fixed(abs(added.mean - none.mean), 1)}"
                        f" {lower(added.mean, none.mean)} no context."
                    ),
                    none,
                    added,
                ),
                told(
                    lambda difference: (
                        "Shuffling what is averaged moves the result by at most"
                        f" {significant(difference)}, which is rounding."
                        if difference < 1e-6
                        else f"Shuffling what is averaged moves it by {significant(difference)}."
                    ),
                    shuffled,
                ),
            ]
        ),
        comparison(report, ROWS, "Held-out perplexity of models that only average"),
        figures(
            results,
            ("averaging_matrix", "Row t averages the first t tokens: a softmax of equal scores."),
            ("average_rows", f"What an unweighted average is worth. {MARKED} {DIAMONDS}"),
        ),
        others(report, "average", [name for _, name in ROWS]),
    )


def _buy(gain: float) -> str:
    return buys(gain).replace("buys", "buy").replace("costs", "cost")
