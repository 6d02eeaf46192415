"""One vector against a weighted sum: accuracy by length, how it came about, and where they look."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import BAND, POINTS_PER_INCH, colour
from remeasure.figures.words import listed, percent
from remeasure.records.results import Results, Spread

TASKS = {"copy": "copied", "reverse": "reversed", "sort": "sorted"}
"""A task, and what its strings are."""
ARCHITECTURES = {
    "lstm": "one vector (LSTM)",
    "bahdanau": "additive attention (LSTM)",
    "cross_attention": "cross-attention (transformer)",
    "decoder_only": "decoder only",
}
LOOKS = {name: marks.look(index) for index, name in enumerate(ARCHITECTURES)}
WITH_ATTENTION = tuple(ARCHITECTURES)[1:]
DRAWN_FROM = 0.1
"""Weights below this are not drawn: they are faint, and hundreds of them make the page large."""
PERCENT = ([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])


def file(task: str, architecture: str) -> str:
    """Where the record of a run stands."""
    return f"metrics/seq2seq/{task}_{architecture}.json"


def by_length(
    results: Results, task: str, architecture: str, what: str = "sequence"
) -> dict[int, Spread]:
    """Accuracy of a run at each length asked after; empty if it is not measured."""
    lengths = results.value(f"{file(task, architecture)}#by_length") or {}
    found = {
        int(length): results.spread(f"{file(task, architecture)}#by_length.{length}.{what}")
        for length in lengths
    }
    return {length: spread for length, spread in found.items() if spread is not None}


def trained_to(results: Results) -> int | None:
    """The longest length that training has, from any run that is measured."""
    for task, architecture in _runs():
        lengths = results.value(f"{file(task, architecture)}#trained_lengths")
        if lengths:
            return int(lengths[1])
    return None


def seq2seq_lengths(results: Results) -> Picture:
    """Share of strings without a mistake against their length, a panel a task."""
    longest = trained_to(results)
    if longest is None:
        return missing("Accuracy by length of the strings: not measured.")
    figure, panels = _panels()
    said = []
    for axes, (task, done) in zip(panels, TASKS.items(), strict=True):
        for architecture, label in ARCHITECTURES.items():
            found = by_length(results, task, architecture)
            if found:
                _by_length(axes, found, architecture)
            end = found.get(longest)
            value = "not measured" if end is None else percent(end.mean)
            said.append(f"{done} by {label} {value}")
        axes.axvline(longest, color=colour("muted"), linewidth=1, linestyle=(0, (2, 2)))
        axes.set_title(done)
        axes.set_xlabel("letters")
    panels[0].set_ylabel("strings without a mistake")
    _name_lines(figure, panels)
    return Picture(
        figure,
        f"Share of strings without a mistake by their length. At {longest} letters, the longest"
        f" trained: {'; '.join(said)}.",
    )


def seq2seq_curves(results: Results) -> Picture:
    """The same share over training, at the trained lengths together, a line a seed."""
    figure, panels = _panels()
    said = []
    for axes, (task, done) in zip(panels, TASKS.items(), strict=True):
        for architecture, label in ARCHITECTURES.items():
            curve = results.curve("seq2seq", f"{task}_{architecture}")
            if curve is None:
                continue
            table = marks.over_seeds(curve, "sequence_accuracy")
            marks.band(axes, table, LOOKS[architecture], label=label)
            said.append(f"{done} by {label} {percent(table['mean'].iloc[-1])}")
        axes.set_title(done)
        axes.set_xlabel("step")
    if not said:
        return missing("Accuracy over training: not measured.")
    panels[0].set_ylabel("strings without a mistake")
    _name_lines(figure, panels)
    return Picture(
        figure, f"Share of strings without a mistake over training, at its end {'; '.join(said)}."
    )


def seq2seq_attention(results: Results) -> Picture:
    """Weights of target places on the source for one string a run, in its sharpest head."""
    examples = {
        (task, architecture): example
        for task, architecture in _runs()
        if (example := results.value(f"{file(task, architecture)}#attention.example"))
    }
    if not examples:
        return missing("Where the target looks in the source: not measured.")
    rows, columns = len(WITH_ATTENTION), len(TASKS)
    size = (columns * 210 / POINTS_PER_INCH, rows * 210 / POINTS_PER_INCH)
    figure = Figure(figsize=size)
    grid = figure.subplots(rows, columns, squeeze=False)
    for line, architecture in zip(grid, WITH_ATTENTION, strict=True):
        for axes, task in zip(line, TASKS, strict=True):
            _heat_map(axes, examples.get((task, architecture)))
            axes.set_title(f"{TASKS[task]}: {ARCHITECTURES[architecture].partition(' (')[0]}")
    said = [
        f"{TASKS[task]} by {ARCHITECTURES[architecture]} {percent(_on_answer(example))}"
        for (task, architecture), example in examples.items()
    ]
    return Picture(
        figure,
        "Heat maps of target places against source places, the mean share of a row on the letter"
        f" to be written: {listed(said)}.",
    )


def _runs() -> Iterator[tuple[str, str]]:
    return ((task, architecture) for task in TASKS for architecture in ARCHITECTURES)


def _panels() -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=(680 / POINTS_PER_INCH, 290 / POINTS_PER_INCH))
    panels = figure.subplots(1, len(TASKS), sharey=True)
    for axes in panels:
        axes.set_ylim(-0.02, 1.02)
        axes.set_yticks(*PERCENT)
    return figure, panels


def _by_length(axes: Axes, found: Mapping[int, Spread], architecture: str) -> None:
    """Means as a line, and a band from the lowest seed to the highest."""
    look = LOOKS[architecture]
    seeds = [list((spread.per_seed or {}).values()) for spread in found.values()]
    lows, highs = map(min, seeds), map(max, seeds)
    axes.fill_between(list(found), list(lows), list(highs), color=look.colour, alpha=BAND, lw=0)
    axes.plot(
        list(found),
        [spread.mean for spread in found.values()],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        label=ARCHITECTURES[architecture],
    )


def _name_lines(figure: Figure, panels: Sequence[Axes]) -> None:
    """One legend for all panels, below them."""
    named: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    order = [label for label in ARCHITECTURES.values() if label in named]
    figure.legend([named[label] for label in order], order, loc="outside lower center", ncols=2)


def _heat_map(axes: Axes, example: Mapping[str, Any] | None) -> None:
    axes.tick_params(length=0)
    axes.grid(visible=False)
    if example is None:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.text(0.5, 0.5, "not measured", ha="center", va="center", color=colour("muted"))
        return
    rows = [
        [weight if weight >= DRAWN_FROM else 0 for weight in row]
        for row in example["sharpest"]["weights"]
    ]
    marks.cells(axes, rows, digits=2, show_above=1)
    axes.set_xticks(range(len(example["source"])), list(example["source"]))
    axes.set_yticks(range(len(example["target"])), list(example["target"]))


def _on_answer(example: Mapping[str, Any]) -> float:
    """Mean share of a target place's weight that lies on its letter in this string."""
    shares = [
        sum(
            weight
            for weight, letter in zip(row, example["source"], strict=True)
            if letter == answer
        )
        for row, answer in zip(example["sharpest"]["weights"], example["target"], strict=True)
    ]
    return sum(shares) / len(shares)
