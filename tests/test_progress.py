"""Time left: what was done before this process started does not count as quick work."""

import json
from pathlib import Path

import pytest

from remeasure import progress
from remeasure.progress import PROGRESS_FILE, Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the module's clock shows."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_time_left_counts_only_what_was_worked_for(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    monkeypatch.setenv(PROGRESS_FILE, str(file))
    with Progress("x", 100) as resumed:
        clock[0] += 2
        resumed.reach(61, "after sixty that were there")
        assert json.loads(file.read_text())["seconds_left"] == pytest.approx(78)
        clock[0] += 4
        resumed.advance("the next")
    state = json.loads(file.read_text())
    assert state == {
        "label": "x",
        "done": 62,
        "total": 100,
        "note": "the next",
        "seconds_left": pytest.approx(3 * 38),
    }


def test_lines_come_seldom(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("x", 100) as steady:
        for _ in range(40):
            clock[0] += 1
            steady.advance("n")
    assert capsys.readouterr().out == "x: step 30 of 100, n, about 1 min left\n"
