"""What stands around every command: one-line errors, and provenance that cannot be false."""

import errno
import json
from pathlib import Path

import pytest

from remeasure.commands import one_name, recorded, run_command
from remeasure.errors import ParameterError, UserError


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UserError("no such thing"), 1, "error: no such thing"),
        (ParameterError("model.pos: bad"), 2, "error: model.pos: bad"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(errno.ENOSPC, "No space left", "metrics/x.json"), 1, "no space left on the disk"),
    ],
)
def test_a_users_mistake_ends_in_one_line(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, message: str
) -> None:
    def main(words: list[str]) -> None:
        raise error

    with pytest.raises(SystemExit) as caught:
        run_command(main)
    assert caught.value.code == code
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_our_own_mistake_keeps_its_traceback() -> None:
    def main(words: list[str]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_command(main)


def test_one_name() -> None:
    assert one_name(["a"], "usage") == "a"
    with pytest.raises(UserError, match="usage: python x NAME"):
        one_name([], "python x NAME")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with parameters and one input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("a: {b: 1}\nother: 1\n")
    (tmp_path / "input.txt").write_text("one")
    return tmp_path


def run(change: str) -> None:
    with recorded(Path("provenance/x.json"), [Path("input.txt")], ["a.b"]):
        if change == "input":
            Path("input.txt").write_text("two")
        elif change == "parameter":
            Path("params.yaml").write_text("a: {b: 2}\nother: 1\n")
        elif change == "another parameter":
            Path("params.yaml").write_text("a: {b: 1}\nother: 2\n")


@pytest.mark.parametrize(("change", "named"), [("input", "input.txt"), ("parameter", "a.b")])
def test_an_input_that_changes_meanwhile_fails_the_run(
    workspace: Path, change: str, named: str
) -> None:
    with pytest.raises(UserError, match=f"changed while this stage ran: .*{named}"):
        run(change)
    assert not Path("provenance/x.json").exists()


@pytest.mark.parametrize("change", ["nothing", "another parameter"])
def test_provenance_says_where_and_how(workspace: Path, change: str) -> None:
    run(change)
    found = json.loads(Path("provenance/x.json").read_text())
    assert {"started", "wall_seconds", "commit", "machine", "threads", "versions"} == set(found)
    assert found["versions"]["torch"]


def test_time_of_killed_processes_counts(workspace: Path) -> None:
    with recorded(Path("provenance/x.json"), [], []) as told:
        told.seconds_before = 1000.0
    found = json.loads(Path("provenance/x.json").read_text())
    assert found["wall_seconds"] == pytest.approx(1000.0, abs=5)


@pytest.mark.parametrize("word", ["/tmp/evil", "../evil", "a/b", "", "-f", "a.b"])
def test_a_name_that_is_a_path_is_refused(word: str) -> None:
    with pytest.raises(UserError, match="is no name; allowed are a-z"):
        one_name([word], "python stages/x.py NAME")
