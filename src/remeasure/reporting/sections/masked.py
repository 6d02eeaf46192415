"""Filling in what is hidden: the section's text, tables and figures."""

from collections.abc import Callable

from remeasure.figures.masked import ORDERS, RUNS, baseline, record
from remeasure.figures.words import count, fixed, listed, percent, significant
from remeasure.records.results import Spread
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import MARKED, ppl, told
from remeasure.reporting.verdicts import grid

ASKED = (15, 50, 100)
TOLD = tuple((name, label) for name, label, _ in RUNS[:2])
"""The runs that the sentences on orders are about; the tables show all."""
COLUMNS = tuple(label for _, label, _ in RUNS)
SCORES = tuple(
    (f"{what}, {share} % hidden", tuple(f"masked.{name}.{what}.{share}" for name, _, _ in RUNS))
    for what in ("accuracy", "perplexity")
    for share in ASKED
)
SEQUENCES = (
    *(
        (f"nats a token, {order}", tuple(f"masked.{name}.nats.{key}" for name, _, _ in RUNS))
        for key, order in ORDERS
    ),
    *(
        (
            f"difference of a window, {order} against left to right",
            tuple(f"masked.{name}.difference.{key}" for name, _, _ in RUNS),
        )
        for key, order in ORDERS[1:]
    ),
    (
        "perplexity from the left alone, first token left out",
        tuple(f"masked.{name}.from_the_left" for name, _, _ in RUNS),
    ),
    (
        "change before a revealed token, of the features’ size",
        tuple(f"masked.{name}.revealed" for name, _, _ in RUNS),
    ),
    (
        "the same with the causal mask put back, largest",
        tuple(f"masked.{name}.revealed_causal" for name, _, _ in RUNS),
    ),
)


def masked(report: Report) -> Html:
    """How well hidden tokens are filled in, and why that writes no text from left to right."""
    results = report.results
    return join(
        paragraph(
            [
                _knowing_nothing(report),
                *(_filled_in(report, name, label) for name, label, _ in RUNS),
            ]
        ),
        figures(
            results,
            ("masked_accuracy", f"The whole held-out split. {MARKED}"),
            ("masked_orders", f"Windows filled in one token at a time. {MARKED}"),
        ),
        grid(report, "", COLUMNS, SCORES, "Hidden tokens of the held-out split"),
        paragraph(
            [
                _from_the_left(report),
                _orders(report),
                _revealed(report),
            ]
        ),
        grid(report, "", COLUMNS, SEQUENCES, "Windows filled in one token at a time"),
    )


def _knowing_nothing(report: Report) -> str | None:
    return told(
        lambda accuracy, perplexity, bound: (
            f"Whoever sees nothing and always names the most frequent token is right in"
            f" {percent(accuracy)} of the cases; the training text’s frequencies have a held-out"
            f" perplexity of {fixed(perplexity, 1)}, and no fixed distribution has one below"
            f" {fixed(bound, 1)}."
        ),
        *(
            baseline(report.results, f"whole_split.{name}")
            for name in ("accuracy", "perplexity", "perplexity_bound")
        ),
    )


def _filled_in(report: Report, name: str, label: str) -> str | None:
    return told(
        lambda accuracy, some, nothing: (
            f"A model {label} fills in {percent(accuracy.mean)} of the tokens when 15 % are hidden,"
            f" at a perplexity of {ppl(some)}; with everything hidden its perplexity is"
            f" {ppl(nothing)}."
        ),
        report.results.spread(record(name, "hidden.15.accuracy")),
        report.results.spread(record(name, "hidden.15.perplexity")),
        report.results.spread(record(name, "hidden.100.perplexity")),
    )


def _from_the_left(report: Report) -> str | None:
    results, (first, _) = report.results, TOLD[0]
    found = _of_each(report, "orders.left_to_right.after_the_first.perplexity", ppl)
    return told(
        lambda found, causal, tokens, known, known_whole: (
            "Asked from left to right, each token from those before it and the rest hidden, the"
            f" perplexity on {count(tokens)} tokens is {found}. The causal block of the same"
            f" budget, with learned positions, has {ppl(causal)} on the whole split (token"
            f" frequencies alone: {fixed(known, 1)} on those tokens, {fixed(known_whole, 1)} on the"
            " whole)."
        ),
        found,
        results.ablation("heads_4", "held_out.perplexity"),
        results.number(record(first, "tokens.ordered_windows")),
        baseline(results, "ordered_windows.perplexity"),
        baseline(results, "whole_split.perplexity"),
    )


def _orders(report: Report) -> str | None:
    found = _of_each(
        report, "orders.right_to_left.difference", lambda apart: f"{fixed(apart.mean, 3)} nats"
    )
    return told(
        lambda found: (
            "With one joint distribution behind its answers a model would give a window the same"
            " probability in every order, by the chain rule; from right to left it is another one"
            f" than from left to right, window by window by {found} a token on average."
        ),
        found,
    )


def _revealed(report: Report) -> str | None:
    found = _of_each(report, "revealed.relative_change", lambda change: percent(change.mean))
    causal = [
        change.mean
        for name, _ in TOLD
        if (change := report.results.spread(record(name, "revealed.causal_largest_change")))
    ]
    return told(
        lambda found: (
            "Revealing one token changes what the model holds of all tokens before it, by"
            f" {found} of its size, so nothing of it can be kept in a cache; with the causal mask"
            f" the same weights change by {significant(max(causal))}."
        ),
        found if causal else None,
    )


def _of_each(report: Report, keys: str, shown: Callable[[Spread], str]) -> str | None:
    """The number of each run that is told about, in words; None if none is measured."""
    found = [
        f"{shown(value)} {label}"
        for name, label in TOLD
        if (value := report.results.spread(record(name, keys)))
    ]
    return listed(found) if found else None
