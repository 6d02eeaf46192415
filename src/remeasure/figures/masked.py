"""Filling in hidden tokens: by how much is hidden, and by the order in which it is shown."""

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import colour, panel
from remeasure.figures.words import listed, percent
from remeasure.records.results import Results, Spread

RUNS = (
    ("share_15", "trained with 15 % hidden", marks.look(1)),
    ("any_share", "trained with any share hidden", marks.look(0)),
    ("share_15_learned", "trained with 15 % hidden, learned positions", marks.look(4)),
)
PERCENTS = (5, 15, 30, 50, 70, 85, 95, 100)
ORDERS = (
    ("left_to_right", "left to right"),
    ("right_to_left", "right to left"),
    ("random", "in a random order"),
)


def record(name: str, keys: str) -> str:
    """The address of a number of a run."""
    return f"metrics/masked/{name}.json#{keys}"


def baseline(results: Results, keys: str) -> float | None:
    """What is known without seeing anything; every run carries the same."""
    found = (results.number(record(name, f"baseline.{keys}")) for name, _, _ in RUNS)
    return next((value for value in found if value is not None), None)


def masked_accuracy(results: Results) -> Picture:
    """Hidden tokens filled in rightly, against the share that is hidden."""
    figure, axes = panel(560, 320)
    said, ends = [], []
    for name, label, style in RUNS:
        values = _by_percent(results, name)
        if values:
            axes.errorbar(
                list(values),
                [found.mean for found in values.values()],
                yerr=[found.std or 0 for found in values.values()],
                marker=style.marker,
                linestyle=style.line,
                color=style.colour,
                capsize=3,
                label=label,
            )
            ends += [(p, found.mean) for p, found in values.items()]
            shown = (f"{percent(found.mean)} of {p} %" for p, found in values.items())
            said.append(f"{label}, {listed(shown)}")
    if not ends:
        return missing("Accuracy against the share hidden: not measured.")
    most_frequent = baseline(results, "whole_split.accuracy")
    if most_frequent is not None:
        axes.axhline(
            most_frequent,
            color=colour("muted"),
            linestyle=(0, (2, 2)),
            linewidth=1.2,
            label="the most frequent token, always",
        )
        said.append(f"the most frequent token, always, {percent(most_frequent)}")
    axes.set_xlim(0, 102)
    axes.set_xticks(PERCENTS, map(str, PERCENTS))
    axes.set_ylim(0, None)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.set_xlabel("per cent of the window hidden")
    axes.set_ylabel("filled in rightly, held out")
    marks.legend(axes)
    return Picture(
        figure, f"Hidden tokens filled in rightly, by the share hidden: {'; '.join(said)}."
    )


def masked_orders(results: Results) -> Picture:
    """Nats a token of the same windows, filled in one token at a time in three orders."""
    rows = [
        marks.Row(f"{label}, {order}", results.spread(record(name, f"orders.{key}.nats")))
        for name, label, _ in RUNS
        for key, order in ORDERS
    ]
    if all(row.ours is None for row in rows):
        return missing("Nats a token by the order of filling in: not measured.")
    figure, axes = panel(620, 300)
    marks.dot_rows(axes, rows)
    axes.set_xlabel("nats a token, by the chain rule")
    return Picture(figure, marks.rows_in_words("Nats a token by the order", rows, digits=3))


def _by_percent(results: Results, name: str) -> dict[int, Spread]:
    found = {p: results.spread(record(name, f"hidden.{p}.accuracy")) for p in PERCENTS}
    return {p: value for p, value in found.items() if value is not None}
