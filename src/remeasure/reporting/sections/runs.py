"""Every trained language model: what it differs in, and how it ended."""

from collections.abc import Iterator, Mapping
from typing import Any

from remeasure.figures.words import count, fixed
from remeasure.records.results import as_spread
from remeasure.reporting.html import Cell, Html, escape, join, link, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import ppl
from remeasure.reporting.verdicts import NUMERIC, number_cell

COLUMNS = ("parameters", "training", "held out", "±", "n")


def runs(report: Report) -> Html:
    """The budgets, and a line a run: the reader's own variant first, then all ablations."""
    return join(_budgets(report), _runs(report))


def _budgets(report: Report) -> Html:
    fraction = report.params["training"]["fraction"]
    lines = [
        [
            name,
            *(
                Cell(text, NUMERIC)
                for text in (
                    count(fraction * budget["steps"]),
                    count(budget["batch_size"]),
                    f"{budget['learning_rate']:g}",
                    count(fraction * budget["warmup_steps"]),
                    count(len(budget["seeds"])),
                )
            ),
        ]
        for name, budget in report.params["budgets"].items()
    ]
    headings = ("steps", "windows a batch", "learning rate", "warmup steps", "seeds")
    return table(
        ("budget", *(Cell(name, NUMERIC) for name in headings)),
        lines,
        caption="Budgets of training",
    )


def _runs(report: Report) -> Html:
    model = dict(report.params["model"])
    budget = model.pop("budget")
    base = report.params["base"]
    own = {key: value for key, value in model.items() if value != base.get(key)}
    lines = [
        _line(report, "metrics/train/train.json", "train", {"budget": budget, **own}),
        *(
            _line(report, f"metrics/ablations/{name}.json", f"ablation@{name}", entry)
            for name, entry in report.params["ablations"].items()
        ),
    ]
    return table(
        (
            "run",
            "budget",
            "differs from the chapter’s block in",
            *(Cell(c, NUMERIC) for c in COLUMNS),
        ),
        lines,
        caption="Perplexity of every trained run",
        kind="tall",
    )


def _line(report: Report, file: str, stage: str, entry: Mapping[str, Any]) -> list[object]:
    record = report.results.records.get(file, {})
    training, held_out = (
        as_spread(record.get(split, {}).get("perplexity")) for split in ("training", "held_out")
    )
    differences = ", ".join(_differences(entry))
    name = stage.partition("@")[2] or stage
    measured = (
        count(record["parameters"]) if record else "",
        "" if training is None else ppl(training),
        None if held_out is None else ppl(held_out),
        "" if held_out is None or held_out.std is None else fixed(held_out.std),
        "" if held_out is None or held_out.n is None else count(held_out.n),
    )
    return [
        Cell(link(f"stage-{stage}", name) if report.ran(stage) else name),
        entry["budget"],
        Cell(escape(differences or "nothing"), "differences"),
        *map(number_cell, measured),
    ]


def _differences(entry: Mapping[str, Any]) -> Iterator[str]:
    for key, value in entry.items():
        if isinstance(value, Mapping):
            yield f"{key}: {' '.join(_differences(value))}"
        elif key != "budget":
            yield f"{key} {str(value).lower()}"
