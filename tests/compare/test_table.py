"""Experiments below each other: those that belong, in 100 columns, with what differs."""

import re
from typing import Any

import pytest
from small_project import Project

from remeasure.compare.table import main

SEEDS = [0, 1, 2]


def experiment(project: Project, name: str, baseline: str, **changes: Any) -> None:
    """An experiment as DVC keeps it, which this project's stage measured."""

    def edit(content: dict[str, Any]) -> None:
        content["model"].update(changes)
        content["budgets"]["variant"]["seeds"] = SEEDS

    project.git("checkout", "-q", "--detach", baseline)
    project.change(edit)
    project.train()
    commit = project.commit(name)
    project.git("update-ref", f"refs/exps/{baseline[:2]}/{baseline[2:]}/{name}", commit)
    project.git("switch", "-q", "main")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints."""
    main(list(words))
    return capsys.readouterr().out


def names(text: str) -> list[str]:
    """The first column, without what a wide cell goes on with."""
    return [line.split("  ")[0] for line in text.splitlines()[3:] if line[:1] not in ("", " ")]


def test_experiments_of_the_current_commit_with_what_differs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    first, head = (project.git("rev-parse", name).strip() for name in ("HEAD~1", "HEAD"))
    experiment(project, "earlier", first, pos="none")
    experiment(project, "turned-again", head, pos="rope", n_positions=12345)
    text = printed(capsys)
    assert names(text) == ["HEAD", "turned-again"]
    assert max(map(len, text.splitlines())) <= 100
    row = next(line for line in text.splitlines() if line.startswith("turned"))
    assert row.split()[1:8] == ["36.87", "±", "1.0", "1.810", "±", "0.010", "31.00"]
    for differing in ("model.pos=rope", "model.n_positions=12345", "seeds=[0,1,2]"):
        assert differing in "".join(text.split())
    assert "dropout" not in text
    assert "attention" not in text
    text = printed(capsys, "--all")
    assert text.startswith("In all but HEAD: budgets.variant.seeds=[0,1,2]\n")
    assert text.count("seeds=") == 1
    assert set(names(text.partition("\n")[2])) == {"HEAD", "earlier", "turned-again"}


def test_the_working_tree_is_there_once_it_differs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert names(printed(capsys)) == ["HEAD"]
    project.change(lambda content: content["model"].update(pos="alibi"))
    project.train()
    text = printed(capsys)
    assert names(text) == ["working tree", "HEAD"]
    assert re.search(r"^working tree +38\.00 .*model\.pos=alibi", text, re.M)


def test_parameters_that_were_not_measured_are_called_out(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    record = project.read("metrics/train/train.json")
    record["protocol"]["settings"] = "0123456789ab"
    project.write("metrics/train/train.json", record)
    text = " ".join(printed(capsys).split())
    assert "Note: working tree: measured with other parameters than these" in text


def test_without_any_result_the_row_is_there(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.git("rm", "-q", "metrics/train/train.json")
    project.commit("no result")
    assert re.search(r"^HEAD +– +– +– +– +– *$", printed(capsys), re.M)
