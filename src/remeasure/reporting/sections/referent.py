"""Who is meant: the section's text, tables and figures."""

from remeasure.figures.referent import RUNS
from remeasure.figures.words import count, percent
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import told
from remeasure.reporting.verdicts import comparison, others, tally

ACCURACY = (
    ("kinds of noun: uniform average", "referent.category.uniform_average"),
    ("kinds of noun: one block", "referent.category.one_block"),
    ("kinds of noun: two blocks", "referent.category.two_blocks"),
    ("one pool: uniform average", "referent.pool.uniform_average"),
    ("one pool: one block", "referent.pool.one_block"),
    ("one pool: two blocks", "referent.pool.two_blocks"),
    ("lower rate, kinds of noun: one block", "referent.category_one_block_low_rate.accuracy"),
    ("lower rate, one pool: one block", "referent.pool_one_block_low_rate.accuracy"),
    ("lower rate, one pool: two blocks", "referent.pool_two_blocks_low_rate.accuracy"),
)
ONE_BLOCK, ONE_BLOCK_LOW_RATE = "pool_one_block", "pool_one_block_low_rate"
LOOKS = (
    "referent.uniform_weight",
    "referent.block1_same_for_both_adjectives",
    "referent.block1_weight_on_first_noun",
    "referent.block2_crosser_weight_on_adjective",
    "referent.block2_crossed_weight_on_second_noun",
)
"""Claims of this section that the section on attention maps shows."""


def referent(report: Report) -> Html:
    """Accuracy on held-out pairs of nouns, and how it came about."""
    results = report.results
    uniform = results.spread("metrics/referent/pool_uniform.json#accuracy")
    wrong = results.spread("metrics/referent/pool_uniform.json#wrong_noun_share")
    return join(
        tally([row for row in report.rows("referent") if row["id"] not in LOOKS]),
        paragraph(
            [
                told(
                    lambda uniform, wrong: (
                        "Where either noun may stand in either slot, the uniform average names the"
                        f" right one in {percent(uniform.mean)} of the held-out sentences and the"
                        f" other of the pair in {percent(wrong.mean)}."
                    ),
                    uniform,
                    wrong,
                ),
                *(_settled(report, *run) for run in RUNS if run[0].startswith("pool_")),
                _rates(report),
            ]
        ),
        comparison(report, ACCURACY, "Share of held-out sentences answered rightly"),
        figures(
            results,
            ("referent_accuracy", "A dot a seed; diamonds: the chapter’s one run. Dotted: a half."),
            ("referent_curves", "How the answer is found, a line a seed, one pool of nouns."),
            ("referent_curves_low_rate", "The same at the lower rate."),
        ),
        others(report, "referent", [*(name for _, name in ACCURACY), *LOOKS]),
    )


def _rates(report: Report) -> str:
    """Which learning rates the runs had; the chapter does not say."""
    runs = report.params["referent"]["runs"]
    usual, lower = (runs[name]["learning_rate"] for name in (ONE_BLOCK, ONE_BLOCK_LOW_RATE))
    return (
        f"The chapter does not say how it trained; the learning rate here is {usual:g}, and"
        f" {lower:g} where it says lower rate."
    )


def _settled(report: Report, name: str, label: str, _: str | None) -> str | None:
    record = report.results.records.get(f"metrics/referent/{name}.json")
    steps = report.results.spread(f"metrics/referent/{name}.json#settled_at")
    if record is None or name.endswith("uniform"):
        return None
    seeds = record["accuracy"]["n"]
    who = label.partition(": ")[2].capitalize()
    if steps is None:
        return f"{who}: none of {seeds} seeds passes 99 % for good."
    return (
        f"{who}: {record['settled_seeds']} of {seeds} seeds pass 99 % for good, at step"
        f" {count(steps.mean)} on average."
    )
