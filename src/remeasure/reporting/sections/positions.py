"""Positions: the section's text, tables and figures."""

from remeasure.figures.positions import ENCODINGS, WINDOWS
from remeasure.figures.words import fixed, listed, significant
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import DIAMONDS, MARKED, lower, points, told
from remeasure.reporting.verdicts import grid, others, tally

ROWS = tuple(
    (label, tuple(f"positions.{key}.ppl.{window}" for window in WINDOWS))
    for key, label, _ in ENCODINGS
)
DEFINITIONS = "metrics/probes/position_definitions.json"
TRAINED_ON, LONGEST = WINDOWS[0], WINDOWS[-1]


def positions(report: Report) -> Html:
    """Perplexity on windows longer than those trained on."""
    results = report.results
    at = {
        (label, window): found.mean
        for key, label, _ in ENCODINGS
        for window in WINDOWS
        if (found := results.ablation(f"positions_{key}", f"by_window.{window}")) is not None
    }
    lengthened = [label for _, label, _ in ENCODINGS if (label, LONGEST) in at]
    changes = listed(
        f"{label} is {points(at[label, LONGEST] - at[label, TRAINED_ON])}"
        f" {lower(at[label, LONGEST], at[label, TRAINED_ON], ('better', 'worse'))}"
        for label in lengthened
    )
    equivariance = results.number("metrics/probes/symmetry.json#permutation_equivariance.max_diff")
    return join(
        tally(report.rows("positions")),
        paragraph(
            [
                _best(at),
                f"At {LONGEST} tokens, {LONGEST // TRAINED_ON} times that length, {changes}."
                if lengthened
                else None,
                told(
                    lambda difference: (
                        "Without mask and positions, permuting the input permutes the output, to"
                        f" {significant(difference)}."
                    ),
                    equivariance,
                ),
                told(
                    lambda *differences: (
                        "Sinusoids, ALiBi and RoPE agree with a plain form written from their"
                        f" papers, to {significant(max(differences))}."
                    ),
                    *(
                        results.number(f"{DEFINITIONS}#{name}.max_diff")
                        for name in ("sinusoidal", "alibi", "rope")
                    ),
                ),
            ]
        ),
        grid(
            report,
            "",
            tuple(f"window of {window}" for window in WINDOWS),
            ROWS,
            f"Held-out perplexity, trained on windows of {TRAINED_ON}",
        ),
        figures(
            results,
            ("window_lengths", f"Past the trained length. {MARKED} {DIAMONDS}"),
        ),
        others(report, "positions", [name for _, names in ROWS for name in names]),
    )


def _best(at: dict[tuple[str, int], float]) -> str | None:
    trained = {label: value for (label, window), value in at.items() if window == TRAINED_ON}
    if len(trained) < len(ENCODINGS):
        return None
    first, second = sorted(trained, key=lambda label: trained[label])[:2]
    return (
        f"At the trained length {first} is best with {fixed(trained[first])}, before {second} with"
        f" {fixed(trained[second])}."
    )
