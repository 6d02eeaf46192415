"""The average: its matrix, and what a model that only averages is worth."""

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import panel
from remeasure.figures.words import fixed
from remeasure.records.results import Results

MATRIX = "metrics/probes/averaging.json#matrix"

ROWS = (
    ("no_context", "no context", "average.no_context.ppl"),
    ("uniform", "average replaces the token", None),
    ("uniform_positions", "the same, with positions", None),
    ("uniform_residual", "average added to the token", "average.uniform_residual.ppl"),
)
"""Ablation, its name in the figure, and the claim that prints its perplexity."""


def averaging_matrix(results: Results) -> Picture:
    """The matrix whose rows average over a growing prefix."""
    matrix = results.value(MATRIX)
    if not matrix:
        return missing("The averaging matrix is not measured.")
    size = len(matrix)
    figure, axes = panel(270, 250)
    marks.cells(axes, matrix, digits=3)
    axes.set_xlabel("token that is averaged")
    axes.set_ylabel("position")
    axes.set_xticks(range(size), [str(column + 1) for column in range(size)])
    axes.set_yticks(range(size), [str(row + 1) for row in range(size)])
    last = matrix[-1]
    return Picture(
        figure,
        f"Heat map of the {size} by {size} averaging matrix: lower triangular, the first row is"
        f" {fixed(matrix[0][0], 3)}, every entry of the last row is {fixed(last[0], 3)}.",
    )


def average_rows(results: Results) -> Picture:
    """Held-out perplexity of the four models that only average."""
    rows = [
        marks.Row(
            label,
            results.ablation(name, "held_out.perplexity"),
            None if claim is None else results.printed(claim),
        )
        for name, label, claim in ROWS
    ]
    figure, axes = panel(460, 200)
    marks.dot_rows(axes, rows)
    axes.set_xlim(0, 1.05 * axes.get_xlim()[1])
    axes.set_xlabel("held-out perplexity")
    return Picture(figure, marks.rows_in_words("Held-out perplexity", rows))
