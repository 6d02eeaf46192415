"""The ladder: each rung adds one piece; and how its models learn."""

from itertools import pairwise

from remeasure.figures import marks
from remeasure.figures.picture import Picture, missing
from remeasure.figures.style import colour, panel, plain_ticks
from remeasure.figures.words import fixed
from remeasure.records.results import Results

RUNGS = (
    ("no_context", "no context", "average.no_context.ppl"),
    ("uniform_residual", "uniform average", "average.uniform_residual.ppl"),
    ("head", "one learned head", None),
    ("heads", "four heads", None),
    ("feed_forward", "+ feed-forward", None),
    ("one_block", "+ LayerNorm: one block", "ladder.one_block.val_ppl"),
    ("two_blocks", "two blocks", "ladder.two_blocks.val_ppl"),
)
"""Ablation, its name in the figure, and the claim that prints its perplexity."""

REPLACING = {"head": "head_replacing"}
"""The same rung with the token replaced in place of added to."""

BELOW = 0.33
"""How far below its rung that run is drawn, in rows."""

CURVES = (
    ("no_context", "no context", marks.Look("muted", "o", "-")),
    ("uniform_residual", "uniform", marks.Look("muted", "s", (0, (2, 1.5)))),
    ("head", "one head", marks.look(1)),
    ("heads", "four heads", marks.look(4)),
    ("feed_forward", "+ feed-forward", marks.look(3)),
    ("one_block", "one block", marks.look(0)),
    ("two_blocks", "two blocks", marks.look(2)),
)
HIGHEST = 130.0
"""Perplexity at the top of the learning curves: what comes before is the same for all."""


def ladder(results: Results) -> Picture:
    """Held-out perplexity as steps down, a rung a row, with what each rung buys."""
    rows = [
        marks.Row(
            label,
            results.ablation(name, "held_out.perplexity"),
            None if claim is None else results.printed(claim),
        )
        for name, label, claim in RUNGS
    ]
    figure, axes = panel(560, 320)
    marks.dot_rows(axes, rows)
    there = [(place, row.ours.mean) for place, row in enumerate(rows) if row.ours is not None]
    for (y0, x0), (y1, x1) in pairwise(there):
        if y1 > y0 + 1:
            continue  # a rung between them is not measured
        axes.plot([x0, x0, x1], [y0, y1, y1], color=colour("blue"), linewidth=1, zorder=2)
        axes.annotate(
            fixed(x1 - x0, 1) if x1 < x0 else f"+{fixed(x1 - x0, 1)}",
            (x0, (y0 + y1) / 2),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
            color=colour("muted"),
        )
    replacing = []
    for place, (name, label, _) in enumerate(RUNGS):
        found = results.ablation(REPLACING.get(name, ""), "held_out.perplexity")
        if found is not None:
            below = place + BELOW
            axes.plot(found.mean, below, "o", color=colour("orange"), markerfacecolor="none")
            axes.annotate(
                "replacing the token",
                (found.mean, below),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                fontsize=9.5,
                color=colour("orange"),
            )
            replacing.append(f" In place of the token, {label} {fixed(found.mean, 1)}.")
    axes.set_xlabel("held-out perplexity")
    axes.margins(x=0.09)
    words = marks.rows_in_words("Held-out perplexity down the ladder", rows)
    return Picture(figure, words + "".join(replacing))


def learning_curves(results: Results) -> Picture:
    """Held-out perplexity over training, the mean of the seeds with a band from best to worst."""
    curves = [
        (label, marks.perplexity(curve), style)
        for name, label, style in CURVES
        if (curve := results.curve("ablations", name)) is not None
    ]
    if not curves:
        return missing("Learning curves: not measured.")
    figure, axes = panel(560, 320)
    for _, table, style in curves:
        marks.band(axes, table, style)
    last = max(table.index[-1] for _, table, _ in curves)
    lowest = min(table["min"].min() for _, table, _ in curves)
    highest = max(HIGHEST, *(table["max"].iloc[-1] for _, table, _ in curves))
    axes.set_yscale("log")
    ticks = [20, 30, 40, 50, 60, 80, 100, 130, 200, 300, 500, 1000]
    axes.set_ylim(lowest / 1.03, highest * 1.03)
    plain_ticks(
        axes.yaxis,
        [tick for tick in ticks if lowest / 1.03 <= tick <= highest * 1.03],
        lambda value: f"{value:g}",
    )
    axes.set_xlim(0, last)
    axes.set_xlabel("step")
    axes.set_ylabel("held-out perplexity")
    marks.name_ends(
        axes, [(last, table["mean"].iloc[-1], label, style) for label, table, style in curves]
    )
    ends = "; ".join(f"{label} {fixed(table['mean'].iloc[-1], 1)}" for label, table, _ in curves)
    return Picture(figure, f"Held-out perplexity over {last} steps, at the end: {ends}.")


DROPOUT = (
    ("one block", marks.look(0), ("one_block", "dropout_one_block_10", "dropout_one_block_20")),
    (
        "two blocks",
        marks.look(1),
        ("two_blocks", "dropout_two_blocks_10", "dropout_two_blocks_20"),
    ),
)
"""Name, look, and the runs with a dropout of 0, 10 and 20 %."""
SHARES = ("0", "10 %", "20 %")


def overfitting(results: Results) -> Picture:
    """Training against held-out perplexity, one and two blocks, as dropout grows."""
    figure, axes = panel(410, 290)
    said = []
    for label, style, names in DROPOUT:
        points = [
            (share, training, held_out)
            for share, name in zip(SHARES, names, strict=True)
            if (training := results.ablation(name, "training.perplexity")) is not None
            and (held_out := results.ablation(name, "held_out.perplexity")) is not None
        ]
        for share, training, held_out in points:
            axes.errorbar(
                training.mean,
                held_out.mean,
                xerr=training.std or None,
                yerr=held_out.std or None,
                fmt=style.marker,
                color=style.colour,
                capsize=2,
            )
            axes.annotate(
                share,
                (training.mean, held_out.mean),
                xytext=(6, 5),
                textcoords="offset points",
                fontsize=9.5,
                color=style.colour,
            )
            said.append(
                f"{label}, dropout {share}: {fixed(training.mean, 1)} in training,"
                f" {fixed(held_out.mean, 1)} held out"
            )
        if points:
            axes.plot(
                [training.mean for _, training, _ in points],
                [held_out.mean for _, _, held_out in points],
                color=style.colour,
                linestyle=style.line,
                linewidth=1,
                label=label,
            )
    if not said:
        return missing("Training and held-out perplexity with dropout: not measured.")
    for name, style in (("one_block", DROPOUT[0][1]), ("two_blocks", DROPOUT[1][1])):
        x, y = (results.printed(f"ladder.{name}.{part}_ppl") for part in ("train", "val"))
        if x is not None and y is not None:
            marks.chapter(axes, x, y)
            axes.plot(x, y, ".", color=style.colour, markersize=3)
    axes.margins(0.12)
    axes.set_xlabel("training perplexity")
    axes.set_ylabel("held-out perplexity")
    axes.legend(loc="upper right")
    return Picture(figure, f"Training and held-out perplexity. {'; '.join(said)}.")
