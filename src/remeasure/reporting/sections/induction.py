"""Heads that look back twice: the section's text, tables and figures."""

from remeasure.figures.induction import BASELINES, EXPECTED, RUNS
from remeasure.figures.words import count, fixed, percent, with_spread
from remeasure.records.results import Spread
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import lower, told
from remeasure.reporting.verdicts import NUMERIC, grid, number_cell

HEADINGS = ("loss on repeats", "repeats predicted", "loss on new tokens", "seeds", "by step")
LAYERS = (
    ("one layer", "one_layer", 1),
    ("two layers: the first", "two_layers", 1),
    ("two layers: the second", "two_layers", 2),
    ("one layer, one period", "one_layer_fixed_period", 1),
)
SCORES = (
    ("prefix matching", "prefix_matching"),
    ("token before", "previous_token"),
)
HEADS = (
    *(
        (label, tuple(f"induction.{run}.layer{layer}.{score}" for _, score in SCORES))
        for label, run, layer in LAYERS
    ),
    ("uniform attention", tuple(f"induction.baseline.uniform_{score}" for _, score in SCORES)),
)


def induction(report: Report) -> Html:
    """Losses where tokens repeat, and the heads that bring them down."""
    return join(
        paragraph(
            [
                _losses(report),
                *(_learned(report, name, label) for name, label, _ in RUNS),
                _heads(report),
                _one_period(report),
            ]
        ),
        _table(report),
        figures(
            report.results,
            (
                "induction_loss",
                "A line a seed. Dotted: losses that need no training.",
            ),
            (
                "induction_heads",
                "The best head of its layer, a line a seed. Dotted: uniform attention.",
            ),
        ),
        grid(
            report,
            "",
            tuple(label for label, _ in SCORES),
            HEADS,
            "Share of attention weight, the best head of the layer after the last step",
        ),
    )


def _found(report: Report, run: str, keys: str) -> Spread | None:
    return report.results.spread(f"metrics/induction/{run}.json#{keys}")


def _losses(report: Report) -> str | None:
    return told(
        lambda two, one, seen, ideal: (
            f"Where tokens repeat, two layers end at a loss of {fixed(two.mean)} nats and one layer"
            f" at {fixed(one.mean)}. Whoever knows which tokens were seen, and not in what order,"
            f" has {fixed(seen)}: one layer stays {lower(one.mean, seen)} that. An ideal induction"
            f" head, which matches one token, has {fixed(ideal)}, since a segment may hold a token"
            f" twice; two layers are {lower(two.mean, ideal)} it."
        ),
        _found(report, "two_layers", "repeat_loss"),
        _found(report, "one_layer", "repeat_loss"),
        report.results.number(f"{EXPECTED}.tokens_seen_loss"),
        report.results.number(f"{EXPECTED}.one_token_match_loss"),
    )


def _learned(report: Report, name: str, label: str) -> str | None:
    seeds, learned = (_found(report, name, key) for key in ("repeat_loss", "learned_seeds"))
    below = report.results.number(f"metrics/induction/{name}.json#learned_below")
    steps = _found(report, name, "learned_at")
    if seeds is None or learned is None or below is None:
        return None
    when = f", at step {count(steps.mean)} on average" if steps else ""
    return (
        f"{label.capitalize()}: {count(learned.mean)} of {seeds.n} seeds fall below"
        f" {fixed(below)}, half of what the tokens seen give{when}."
    )


def _heads(report: Report) -> str | None:
    return told(
        lambda previous, matching, no_previous, no_matching: (
            "With two layers, the best head of the first puts"
            f" {percent(previous.mean, 0)} of its weight on the token before, and the best of the"
            f" second {percent(matching.mean, 0)} on what followed the present token before;"
            f" uniform attention would put {percent(no_previous, 0)} and"
            f" {percent(no_matching, 0)} there."
        ),
        _found(report, "two_layers", "heads.layer1.previous_token"),
        _found(report, "two_layers", "heads.layer2.prefix_matching"),
        report.results.number(f"{EXPECTED}.uniform_previous_token"),
        report.results.number(f"{EXPECTED}.uniform_prefix_matching"),
    )


def _one_period(report: Report) -> str | None:
    return told(
        lambda loss, matching: (
            "Where all sequences repeat with one and the same period, a single layer ends at"
            f" {fixed(loss.mean)} nats: it need not match, only count back, to where a matching"
            " head would look. The best prefix-matching score of its heads is"
            f" {fixed(matching.mean)}."
        ),
        _found(report, "one_layer_fixed_period", "repeat_loss"),
        _found(report, "one_layer_fixed_period", "heads.layer1.prefix_matching"),
    )


def _table(report: Report) -> Html:
    rows = [(label, *_cells(report, name)) for name, label, _ in RUNS]
    for key, label in BASELINES:
        value = report.results.number(f"{EXPECTED}.{key}")
        blank = [Cell("", NUMERIC)] * (len(HEADINGS) - 1)
        rows.append(
            (
                f"without training: {label}",
                number_cell(None if value is None else fixed(value)),
                *blank,
            )
        )
    return table(
        ("", *(Cell(name, NUMERIC) for name in HEADINGS)),
        rows,
        caption="After the last step; seeds that fall below half of what the tokens seen give",
        kind="comparison",
    )


def _cells(report: Report, name: str) -> list[Cell]:
    loss, right, new, learned = (
        _found(report, name, key)
        for key in ("repeat_loss", "repeat_accuracy", "new_loss", "learned_seeds")
    )
    if loss is None or right is None or new is None or learned is None:
        return [number_cell(None)] * len(HEADINGS)
    steps = _found(report, name, "learned_at")
    return [
        number_cell(with_spread(loss)),
        number_cell(percent(right.mean)),
        number_cell(with_spread(new)),
        number_cell(f"{count(learned.mean)} of {loss.n}"),
        number_cell(with_spread(steps, 0) if steps else "none"),
    ]
