"""Verdicts of a commit beside those of the working tree, in a repository of its own."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from remeasure.errors import UserError
from remeasure.ledger.difference import changes, ledger_at


def row(name: str, verdict: str, mean: float) -> dict[str, Any]:
    return {"id": name, "verdict": verdict, "measured": {"mean": mean, "std": 0.1, "n": 3}}


BEFORE = {
    "claims": [row("a.x", "reproduced", 1.0), row("b.y", "close", 2.0), row("c.z", "close", 3.0)]
}
AFTER = {
    "claims": [
        row("a.x", "reproduced", 1.1),
        row("b.y", "contradicted", 9.0),
        row("d.new", "close", 4.0),
    ]
}


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], check=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    ledger = tmp_path / "metrics/ledger.json"
    ledger.parent.mkdir()
    ledger.write_text(json.dumps(BEFORE), encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    return ledger


def test_only_another_verdict_is_a_change() -> None:
    found = {change.id: (change.before, change.after) for change in changes(BEFORE, AFTER)}
    assert found == {
        "b.y": (row("b.y", "close", 2.0), row("b.y", "contradicted", 9.0)),
        "c.z": (row("c.z", "close", 3.0), None),
        "d.new": (None, row("d.new", "close", 4.0)),
    }


def test_the_same_ledger_has_no_change() -> None:
    assert changes(BEFORE, BEFORE) == []


def test_a_commit_is_read_without_touching_the_working_tree(repository: Path) -> None:
    repository.write_text(json.dumps(AFTER), encoding="utf-8")
    assert ledger_at("HEAD") == BEFORE
    assert json.loads(repository.read_text(encoding="utf-8")) == AFTER


@pytest.mark.parametrize("revision", ["no-such-branch", "HEAD~5", "--output=x", ""])
def test_what_is_no_commit_is_refused(repository: Path, revision: str) -> None:
    with pytest.raises(UserError):
        ledger_at(revision)
    assert not Path("x").exists()


def test_a_commit_without_ledger_is_refused(repository: Path) -> None:
    git("rm", "-q", "metrics/ledger.json")
    git("commit", "-q", "-m", "second")
    with pytest.raises(UserError, match=r"HEAD:metrics/ledger.json cannot be read"):
        ledger_at("HEAD")


def test_a_damaged_ledger_in_a_commit_is_refused(repository: Path) -> None:
    repository.write_text("{", encoding="utf-8")
    git("commit", "-q", "-a", "-m", "second")
    with pytest.raises(UserError, match="damaged"):
        ledger_at("HEAD")
