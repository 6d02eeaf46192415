"""One vector, then a weighted sum: the section's text, table and figures."""

from remeasure.figures.seq2seq import ARCHITECTURES, TASKS, by_length, file, trained_to
from remeasure.figures.words import count, fixed, listed, percent
from remeasure.records.results import Spread
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import BANDS, told
from remeasure.reporting.verdicts import NUMERIC, number_cell

POSITIONS = (
    "Cross-attention marks places with the sinusoids of its paper and the decoder alone by RoPE, so"
    " what sets these two apart is not their architecture alone."
)


def seq2seq(report: Report) -> Html:
    """Accuracy by length of four architectures on three tasks, and where they look."""
    return join(
        *(paragraph([words]) for task in TASKS if (words := _task(report, task))),
        paragraph([POSITIONS, _guessing(report), _looking(report)]),
        figures(
            report.results,
            ("seq2seq_lengths", f"{BANDS} Dotted: the longest length that training has."),
        ),
        _table(report),
        figures(
            report.results,
            ("seq2seq_curves", f"Over training, at all trained lengths together. {BANDS}"),
            (
                "seq2seq_attention",
                "One string, first seed: target letters from top to bottom, source letters from"
                " left to right, in the head that looks most at the letter to be written; weights"
                " from a tenth on.",
            ),
        ),
    )


def _task(report: Report, task: str) -> str | None:
    """What each architecture gets at the longest trained length, and the best beyond it."""
    longest = trained_to(report.results)
    found = {
        label: accuracies
        for name, label in ARCHITECTURES.items()
        if (accuracies := by_length(report.results, task, name))
    }
    if longest is None or not found:
        return None
    ends = listed(f"{label} {percent(at[longest].mean)}" for label, at in found.items())
    beyond = max(max(at) for at in found.values())
    best = max(found, key=lambda label: found[label][beyond].mean)
    share = found[best][beyond].mean
    further = f"the most is {percent(share)}, by {best}" if share else "no string is"
    return (
        f"Of strings of {longest} letters, {TASKS[task]} without a mistake: {ends}. At {beyond}"
        f" letters {further}."
    )


def _guessing(report: Report) -> str | None:
    """The floor under token accuracies."""
    longest = trained_to(report.results)
    loss, blind, sorted_ = (
        _first(report, task, f"guessing.{what}")
        for task, what in (
            ("copy", "loss"),
            ("copy", f"token.{longest}"),
            ("sort", f"token.{longest}"),
        )
    )
    return told(
        lambda loss, blind, sorted_: (
            f"Without a look at the source {percent(blind)} of copied or reversed letters can be"
            f" guessed, at a loss of {fixed(loss)} nats each; of {longest} sorted ones"
            f" {percent(sorted_)}, since the next is rarely far from the last."
        ),
        loss,
        blind,
        sorted_,
    )


def _looking(report: Report) -> str | None:
    """How well attention finds what is to be written, beside equal weights."""
    equal = _first(report, "copy", "attention.equal_weights_on_answer")
    shares = [
        found.mean
        for task in TASKS
        for name in ARCHITECTURES
        if (found := report.results.spread(f"{file(task, name)}#attention.sharpest_head_on_answer"))
    ]
    return told(
        lambda equal: (
            f"Equal weights would put {percent(equal)} on the letter that is to be written; the"
            f" heads that look at it most put {percent(min(shares))} to {percent(max(shares))}"
            " there."
        ),
        equal if shares else None,
    )


def _first(report: Report, task: str, keys: str) -> float | None:
    """A number that is the same for every architecture, from the first that has it."""
    found = (report.results.number(f"{file(task, name)}#{keys}") for name in ARCHITECTURES)
    return next((value for value in found if value is not None), None)


def _table(report: Report) -> Html:
    longest = trained_to(report.results)
    at = f"of {longest}" if longest else "of the longest trained length"
    headings = (
        "parameters",
        f"letters {at}",
        f"strings {at}",
        "half right up to",
        "n",
    )
    return table(
        ("task", "architecture", *(Cell(name, NUMERIC) for name in headings)),
        [_line(report, task, name, longest) for task in TASKS for name in ARCHITECTURES],
        caption="Right letters and whole strings, and the length up to which half the strings are",
        kind="comparison",
    )


def _line(report: Report, task: str, name: str, longest: int | None) -> list[object]:
    results = report.results
    parameters = results.number(f"{file(task, name)}#parameters")
    half = results.spread(f"{file(task, name)}#half_right_length")
    accuracies = [
        results.spread(f"{file(task, name)}#by_length.{longest}.{what}")
        for what in ("token", "sequence")
    ]
    return [
        TASKS[task],
        ARCHITECTURES[name],
        number_cell(None if parameters is None else count(parameters)),
        *(number_cell(_share(found)) for found in accuracies),
        number_cell(None if half is None else fixed(half.mean, 1)),
        number_cell("" if half is None or half.n is None else count(half.n)),
    ]


def _share(found: Spread | None) -> str | None:
    """A share with its deviation, in percent."""
    if found is None:
        return None
    deviation = "" if found.std is None else f" ± {fixed(100 * found.std, 1)}"
    return f"{fixed(100 * found.mean, 1)}{deviation} %"
