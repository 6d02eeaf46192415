"""Who is meant: accuracies by seed, how they came about, and where the model looks."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import POINTS_PER_INCH, colour, panel
from remeasure.figures.words import fixed, listed, percent
from remeasure.records.results import Results

RUNS = (
    ("category_uniform", "kinds: uniform average", "referent.category.uniform_average"),
    ("category_one_block", "kinds: one block", "referent.category.one_block"),
    ("category_one_block_low_rate", "kinds: one block, lower rate", "referent.category.one_block"),
    ("category_two_blocks", "kinds: two blocks", None),
    ("pool_uniform", "one pool: uniform average", "referent.pool.uniform_average"),
    ("pool_one_block", "one pool: one block", "referent.pool.one_block"),
    ("pool_one_block_low_rate", "one pool: one block, lower rate", "referent.pool.one_block"),
    ("pool_two_blocks", "one pool: two blocks", "referent.pool.two_blocks"),
    ("pool_two_blocks_low_rate", "one pool: two blocks, lower rate", "referent.pool.two_blocks"),
)
Learner = tuple[str, str, marks.Look]

LEARNERS: tuple[Learner, ...] = (
    ("pool_uniform", "uniform average", marks.look(4)),
    ("pool_one_block", "one block", marks.look(1)),
    ("pool_two_blocks", "two blocks", marks.look(0)),
)
LOW_RATE_LEARNERS: tuple[Learner, ...] = (
    ("pool_one_block_low_rate", "one block", marks.look(1)),
    ("pool_two_blocks_low_rate", "two blocks", marks.look(0)),
)
MAPPED = "pool_two_blocks"
"""The run whose attention is drawn: two blocks, the one that the chapter shows."""
SHOW_WEIGHTS_ABOVE = 0.095
APART = 0.5
"""How high a row's dots are spread, in rows: seeds with the same accuracy stay apart."""


def referent_accuracy(results: Results) -> Picture:
    """Share of held-out sentences answered rightly, a dot a seed."""
    figure, axes = panel(410, 340)
    said: list[str] = []
    names: list[str] = []
    for place, (name, label, claim) in enumerate(RUNS):
        found = results.spread(f"metrics/referent/{name}.json#accuracy")
        seeds = list((found.per_seed or {}).values()) if found else []
        for index, value in enumerate(seeds):
            shift = APART / len(seeds) * (index - (len(seeds) - 1) / 2)
            axes.plot(value, place + shift, "o", color=colour("blue"), clip_on=False)
        printed = None if claim is None else results.printed(claim)
        if printed is not None:
            marks.chapter(axes, printed, place, clip_on=False)
        values = listed(map(percent, seeds)) if seeds else "not measured"
        theirs = "" if printed is None else f" (chapter {percent(printed)})"
        said.append(f"{label} {values}{theirs}")
        names.append(label if found else f"{label}: not measured")
    axes.axvline(0.5, color=colour("muted"), linewidth=1, linestyle=(0, (2, 2)))
    axes.set_yticks(range(len(RUNS)), names)
    axes.set_ylim(len(RUNS) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("right answers")
    return Picture(figure, f"Accuracy by seed: {'; '.join(said)}.")


def referent_curves(results: Results) -> Picture:
    """Accuracy over training where only the order of the nouns tells, a line a seed."""
    return _curves(results, LEARNERS)


def referent_curves_low_rate(results: Results) -> Picture:
    """The same at a third of the learning rate."""
    return _curves(results, LOW_RATE_LEARNERS)


def _curves(results: Results, learners: Sequence[Learner]) -> Picture:
    figure, axes = panel(410, 270)
    said = []
    ends = []
    for name, label, style in learners:
        curve = results.curve("referent", name)
        if curve is None:
            continue
        rows = curve.dropna(subset=["accuracy"])
        for _, seed in rows.groupby("seed"):
            axes.plot(
                seed["step"], seed["accuracy"], color=style.colour, linestyle=style.line, lw=1.2
            )
        last = rows["step"].max()
        end = rows.loc[rows["step"] == last, "accuracy"].mean()
        ends.append((last, end, label, style))
        said.append(f"{label} ends at {percent(end)} on average")
    if not said:
        return missing("Accuracy over training: not measured.")
    axes.set_xlim(0, max(last for last, *_ in ends))
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("step")
    axes.set_ylabel("right answers, held-out pairs")
    marks.name_ends(axes, ends)
    return Picture(figure, f"Accuracy over training, a line a seed: {'; '.join(said)}.")


def attention_map(results: Results) -> Picture:
    """Weights of both blocks at the word that has to name the referent, for all adjectives."""
    sentences = results.value(f"metrics/referent/{MAPPED}.json#attention.map.sentences") or []
    blocks = len(sentences[0]["blocks"]) if sentences else 0
    if not blocks:
        return missing("The attention maps are not measured.")
    size = (620 / POINTS_PER_INCH, (70 + blocks * (30 + 21 * len(sentences))) / POINTS_PER_INCH)
    figure = Figure(figsize=size)
    said = []
    for block, axes in enumerate(figure.subplots(blocks, 1, squeeze=False)[:, 0]):
        rows = [sentence["blocks"][block]["mean"] for sentence in sentences]
        marks.cells(axes, rows, digits=2, show_above=SHOW_WEIGHTS_ABOVE)
        axes.set_title(f"block {block + 1}, mean of its heads")
        axes.set_yticks(range(len(rows)), [sentence["adjective"] for sentence in sentences])
        words = _words(sentences)
        axes.set_xticks(range(len(words)), words if block == blocks - 1 else [""] * len(words))
        said.append(f"block {block + 1}: {listed(_strongest(sentences, rows))}")
    axes.tick_params(axis="x", rotation=90)
    return Picture(figure, f"Where the last visible word looks most, {'; '.join(said)}.")


def _words(sentences: Sequence[Mapping[str, Any]]) -> list[str]:
    """The words of all sentences, an ellipsis where they differ."""
    columns = zip(*(sentence["words"] for sentence in sentences), strict=True)
    return [column[0] if len(set(column)) == 1 else "(adjective)" for column in columns]


def _strongest(
    sentences: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[float]]
) -> list[str]:
    found = []
    for sentence, row in zip(sentences, rows, strict=True):
        place = max(range(len(row)), key=row.__getitem__)
        found.append(f"{sentence['adjective']} {fixed(row[place])} on {sentence['words'][place]}")
    return found
