"""What runs where, again or not at all: a toy pipeline, with threads and doubles as workers."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tiny import git

from remeasure.errors import UserError
from remeasure.pipeline.cluster import run
from remeasure.pipeline.cluster.options import Limits
from remeasure.pipeline.cluster.task import perform
from remeasure.pipeline.cluster.workers import Machine

PIPELINE = """
stages:
  first:
    cmd: python work.py first
    deps: [work.py]
    outs: [first.txt]
  part:
    foreach: {a: 1, b: 2}
    do:
      cmd: python work.py ${key}
      deps: [work.py, first.txt]
      params: ["rate.${key}"]
      metrics:
      - ${key}.json: {cache: false}
  timed:
    cmd: python work.py timed
    deps: [work.py, first.txt]
    outs: [timed.txt]
    meta: {runs_alone: true}
"""
WORK = """
import json, os, pathlib, sys, time
name, started = sys.argv[1], time.time()
if name in pathlib.Path("failing").read_text().split():
    sys.exit(f"{name} cannot")
time.sleep(0.3)
told = {"where": os.getcwd(), "started": started, "ended": time.time()}
pathlib.Path(f"{name}.json" if name in "ab" else f"{name}.txt").write_text(json.dumps(told))
"""
QUICK = Limits(silence=20, patience=20)
Task = Callable[..., dict[str, Any]]


class Doubles:
    """Workers by name, each a thread that runs a function of its own."""

    dashboard, connected = "", True

    def __init__(self, folder: Path, tasks: Mapping[str, Task]) -> None:
        self._folder, self._tasks = folder, tasks
        self._events: list[dict[str, Any]] = []
        self.started: list[tuple[str, str]] = []
        self._machines = []
        for name in tasks:
            pool = ThreadPoolExecutor(1, thread_name_prefix=name)
            self._machines.append(Machine(name, name, 1, 0, pool))

    def task(self, request: dict[str, Any], contents: dict[str, bytes]) -> dict[str, Any]:
        name = threading.current_thread().name.rpartition("_")[0]
        self.started.append((name, request["stage"]))
        honest = partial(perform, request, contents, str(self._folder / name), self._tell)
        return self._tasks[name](honest, request)

    def machines(self) -> list[Machine]:
        return self._machines

    def connect(self) -> None:
        pass

    def heard(self) -> list[Mapping[str, Any]]:
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        for machine in self._machines:
            machine.executor.shutdown(wait=False)

    def _tell(self, event: dict[str, Any]) -> bool:
        self._events.append(event)
        return True

    def of(self, name: str) -> list[str]:
        """The stages that a worker was sent, each once."""
        return sorted({stage for where, stage in self.started if where == name})


def honest(perform: Task, request: dict[str, Any]) -> dict[str, Any]:
    return perform()


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small pipeline in git and DVC, committed; the working folder."""
    folder = tmp_path / "toy"
    (folder / ".dvc").mkdir(parents=True)
    config = "[core]\n    analytics = false\n    check_update = false\n"
    (folder / ".dvc" / "config").write_text(config)
    (folder / ".gitignore").write_text("/*.txt\n/*.json\n/.dvc/tmp\n/.dvc/cache\n")
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "params.yaml").write_text("rate: {a: 1e-3, b: [1, 2]}\n")
    (folder / "work.py").write_text(WORK)
    (folder / "failing").write_text("")
    git(folder, "init", "--quiet")
    commit(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    return folder


def commit(toy: Path) -> None:
    git(toy, "add", "--all")
    git(toy, "commit", "--quiet", "--message", "toy")


def go(
    monkeypatch: pytest.MonkeyPatch, folder: Path, limits: Limits = QUICK, **tasks: Task
) -> Doubles:
    """Run the toy on doubles, to its end or its error."""
    doubles = Doubles(folder, tasks)
    monkeypatch.setattr(run, "_workers", lambda *_: doubles)
    try:
        run.run_on_cluster("doubles", ["part"], limits, jobs=1, per_gpu=1)
    except UserError as error:
        print(f"error: {error}")
    return doubles


def told(name: str) -> dict[str, Any]:
    return json.loads(Path(name).read_text())  # type: ignore[no-any-return]


def status() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "status"], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_stages_go_out_and_what_measures_time_stays_alone(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run.run_on_cluster("local", [], QUICK, jobs=2, per_gpu=1)
    assert "up to date" in status()
    timed = told("timed.txt")
    assert timed["where"] == str(toy)
    for name in ("first.txt", "a.json", "b.json"):
        assert told(name)["where"] != str(toy)
        assert told(name)["ended"] < timed["started"]
    before = told("a.json")
    capsys.readouterr()
    run.run_on_cluster("local", [], QUICK, jobs=2, per_gpu=1)
    assert told("a.json") == before
    assert "done" not in capsys.readouterr().out


def test_a_failure_is_reported_once_and_stops_no_sibling(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (toy / "failing").write_text("a")
    commit(toy)
    doubles = go(monkeypatch, tmp_path, one=honest, two=honest)
    said = capsys.readouterr().out
    assert "FAILED  part@a (on " in said
    assert "a cannot" in said
    assert "error: 1 of 3 stages failed: part@a" in said
    assert Path("b.json").exists()
    assert len({where for where, stage in doubles.started if stage == "part@a"}) == 1


def test_a_lost_stage_goes_elsewhere_and_not_for_ever(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def dies(perform: Task, request: dict[str, Any]) -> dict[str, Any]:
        raise ConnectionError("the worker died")

    doubles = go(monkeypatch, tmp_path, bad=dies, good=honest)
    said = capsys.readouterr().out
    assert "again   first, lost on bad: ConnectionError: the worker died (try 1 of 3)" in said
    assert doubles.of("good") == ["first", "part@a", "part@b"]
    assert told("a.json")
    for path in ("a.json", "b.json", "first.txt"):
        Path(path).unlink()
    Path("dvc.lock").unlink()
    (toy / "work.py").write_text(WORK + "\n")
    commit(toy)
    go(monkeypatch, tmp_path, bad=dies)
    said = capsys.readouterr().out
    assert "FAILED  first (lost 3 times)" in said
    assert "error: 1 of 3 stages failed: first; 2 that need them did not run" in said


def test_what_is_altered_is_refused_and_its_worker_avoided(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def alters(perform: Task, request: dict[str, Any]) -> dict[str, Any]:
        reply = perform()
        if reply["outcome"] == "done":
            reply["files"] = dict.fromkeys(reply["files"], b"better")
        return reply

    doubles = go(monkeypatch, tmp_path, bad=alters, good=honest)
    said = capsys.readouterr().out
    assert "lost on bad: REFUSED: output first.txt is not what its entry says" in said
    assert doubles.of("bad") == ["first"]
    assert told("first.txt")
    assert "up to date" in status() or "timed" in status()


@pytest.mark.parametrize("nonsense", [None, {"outcome": "lacks", "lacks": ["0"]}])
def test_nonsense_is_refused(
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    nonsense: Any,
) -> None:
    go(monkeypatch, tmp_path, bad=lambda perform, request: nonsense, good=honest)
    assert "lost on bad: REFUSED" in capsys.readouterr().out
    assert told("a.json")


def test_a_silent_worker_is_given_up(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    awake = threading.Event()

    def hangs(perform: Task, request: dict[str, Any]) -> dict[str, Any]:
        awake.wait(60)
        return perform()

    doubles = go(monkeypatch, tmp_path, Limits(silence=3), bad=hangs, good=honest)
    awake.set()
    assert "lost on bad: nothing heard for 3 s" in capsys.readouterr().out
    assert doubles.of("bad") == ["first"]
    assert told("b.json")


def test_without_workers_it_ends(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go(monkeypatch, tmp_path, Limits(patience=0.5))
    assert "no worker could be had for 0 s" in capsys.readouterr().out


def test_what_is_edited_meanwhile_is_not_recorded(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def edits(perform: Task, request: dict[str, Any]) -> dict[str, Any]:
        reply = perform()
        if request["stage"] == "part@a" and reply["outcome"] == "done":
            (toy / "params.yaml").write_text("rate: {a: 1, b: [1, 2]}\n")
        return reply

    go(monkeypatch, tmp_path, one=edits)
    said = capsys.readouterr().out
    assert "FAILED  part@a (could not be recorded)" in said
    assert "params.yaml was changed here meanwhile" in said
    assert "FAILED  1 stages were not sent; params.yaml: not as committed" in said
    assert "part@a" in status()


@pytest.mark.parametrize("path", ["work.py", "params.yaml", "src/new.py"])
def test_a_dirty_folder_is_refused(
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    path: str,
) -> None:
    (toy / path).parent.mkdir(exist_ok=True)
    with (toy / path).open("a") as file:
        file.write("\n")
    doubles = go(monkeypatch, tmp_path, one=honest)
    said = capsys.readouterr().out
    assert f"{path}: not as committed; git commit (or git restore) first" in said
    assert not doubles.started


def test_results_that_are_not_committed_are_no_dirt(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(toy, "add", "--force", "--intent-to-add", ".gitignore")
    go(monkeypatch, tmp_path, one=honest)
    git(toy, "add", "--force", "a.json", "first.txt")
    Path("a.json").unlink()
    time.sleep(0.01)
    doubles = go(monkeypatch, tmp_path, one=honest)
    assert "error" not in capsys.readouterr().out
    assert doubles.of("one") == ["part@a"]
