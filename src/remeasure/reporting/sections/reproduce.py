"""How this very file came about: the commit, the commands, the machine, and the time it took."""

from pathlib import PurePosixPath

from remeasure.figures.words import counted, duration
from remeasure.reporting.html import Cell, Html, Line, join, table, tag
from remeasure.reporting.loading import Report
from remeasure.reporting.machines import machine
from remeasure.reporting.sections.answer import commit
from remeasure.reporting.verdicts import NUMERIC

GROUPS = {"ablations": "ablation", "probes": "probe", "benchmarks": "benchmark"}
"""Families of records whose stage has another name."""


def reproduce(report: Report) -> Html:
    """Commands, then a line a stage."""
    revisions = {
        ran["commit"]["revision"] for ran in report.provenance.values() if ran["commit"]["revision"]
    }
    checkout = f"git checkout {max(revisions)}\n" if len(revisions) == 1 else ""
    commands = tag("pre", tag("code", f"{checkout}make .venv\nmake repro JOBS=2"), tabindex="0")
    return join(commands, _stages(report))


def _stages(report: Report) -> Html:
    machines = list(dict.fromkeys(map(machine, report.provenance.values())))
    lines = [
        Line(
            (
                stage,
                Cell(duration(ran["wall_seconds"]), NUMERIC),
                Cell(str(ran["threads"] or ""), NUMERIC),
                Cell(ran["started"].replace("T", " ").removesuffix("+00:00"), "nowrap"),
                Cell(tag("code", commit(ran) or "none")),
                Cell(str(machines.index(machine(ran)) + 1), NUMERIC),
            ),
            f"stage-{stage}",
            {},
        )
        for stage, ran in ((stage_of(path), ran) for path, ran in report.provenance.items())
    ]
    numbered = (tag("li", f"{name}: {_share(report, name)}") for name in machines)
    headings = (
        "stage",
        Cell("wall time", NUMERIC),
        Cell("threads", NUMERIC),
        "started, UTC",
        "commit",
        Cell("machine", NUMERIC),
    )
    return join(
        tag("p", "The machines that the last column counts:") if machines else None,
        tag("ol", Html("".join(numbered))) if machines else None,
        table(headings, lines, caption="How each stage ran", kind="tall"),
    )


def _share(report: Report, name: str) -> str:
    """How many of the stages a machine ran, and how long it took for them."""
    seconds = [ran["wall_seconds"] for ran in report.provenance.values() if machine(ran) == name]
    return f"{counted(len(seconds), 'stage')}, {duration(sum(seconds))}"


def stage_of(path: str) -> str:
    """The stage that left a file such as provenance/ablations/one_block.json."""
    file = PurePosixPath(path)
    group = GROUPS.get(file.parent.name, file.parent.name)
    return group if file.stem == group else f"{group}@{file.stem}"
