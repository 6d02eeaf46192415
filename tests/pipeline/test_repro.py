"""Stages side by side, in a toy pipeline with DVC's own `dvc repro` as the judge."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from remeasure.pipeline.stages import read_graph

PIPELINE = """
stages:
  first:
    cmd: python work.py first 0
    deps: [work.py]
    outs: [first.txt]
  part:
    foreach: {a: {seconds: 0.5}, b: {seconds: 0.5}, c: {seconds: 0.5}}
    do:
      cmd: python work.py ${key} ${item.seconds}
      deps: [work.py, first.txt]
      metrics:
      - ${key}.json: {cache: false}
  timed:
    cmd: python work.py timed 0.3
    deps: [work.py, first.txt]
    outs: [timed.txt]
    meta: {runs_alone: true}
  last:
    cmd: python work.py last 0
    deps: [work.py, a.json, b.json, c.json, timed.txt]
    outs: [last.txt]
"""
WORK = """
import json, os, pathlib, sys, time
name, seconds = sys.argv[1], float(sys.argv[2])
with open("log.txt", "a") as log:
    log.write(f"start {name}\\n")
if pathlib.Path(f"fail-{name}").exists():
    sys.exit(f"{name} cannot")
if pathlib.Path(f"hang-{name}").exists():
    time.sleep(60)
time.sleep(seconds)
target = f"{name}.json" if name in "abc" else f"{name}.txt"
pathlib.Path(target).write_text(json.dumps({"threads": os.environ.get("OMP_NUM_THREADS")}))
with open("log.txt", "a") as log:
    log.write(f"end {name}\\n")
"""


RECORDING = """
import pathlib, time
from dvc.repo import Repo
record = pathlib.Path("dvc.lock")
whole = record.read_text()
with Repo(".").lock:
    record.write_text(whole.partition("cmd")[0])
    print("half", flush=True)
    time.sleep(1)
    record.write_text(whole)
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A DVC repository without git."""
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(
        "[core]\n    no_scm = true\n    analytics = false\n    check_update = false\n"
    )
    (tmp_path / "dvc.yaml").write_text(PIPELINE)
    (tmp_path / "work.py").write_text(WORK)
    return tmp_path


def command(jobs: int) -> list[str]:
    """Run the toy pipeline; its parameters are none of ours, so the check is left out."""
    imports = "from remeasure import commands; from remeasure.pipeline import repro"
    call = f"commands.run_command(lambda words: repro.run_side_by_side({jobs}, []))"
    return [sys.executable, "-c", f"{imports}; {call}"]


def run(toy: Path, jobs: int = 2) -> subprocess.CompletedProcess[str]:
    """The runner, to its end."""
    return subprocess.run(
        command(jobs), cwd=toy, capture_output=True, text=True, timeout=120, check=False
    )


def log(toy: Path) -> list[str]:
    """What the stages did, in order."""
    return (toy / "log.txt").read_text().splitlines()


def dvc(toy: Path, *words: str) -> str:
    """DVC's own word on it."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *words], cwd=toy, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_everything_runs_once_in_order_and_side_by_side(toy: Path) -> None:
    done = run(toy)
    assert done.returncode == 0, done.stderr
    lines = log(toy)
    assert lines[:2] == ["start first", "end first"]
    assert lines[-2:] == ["start last", "end last"]
    assert sorted(lines) == sorted(
        f"{what} {name}"
        for what in ("start", "end")
        for name in ("first", "a", "b", "c", "timed", "last")
    )
    assert lines.index("end timed") == lines.index("start timed") + 1
    assert '"threads": "1"' in (toy / "a.json").read_text()
    assert "up to date" in dvc(toy, "status")
    assert run(toy).returncode == 0
    assert log(toy) == lines


def test_a_failure_is_reported_and_stops_only_what_needs_it(toy: Path) -> None:
    (toy / "fail-b").touch()
    done = run(toy)
    assert done.returncode == 1
    assert "b cannot" in done.stdout
    assert {"end a", "end c"} <= set(log(toy))
    assert "start last" not in log(toy)
    (toy / "fail-b").unlink()
    assert run(toy).returncode == 0
    assert log(toy).count("start a") == 1
    assert "up to date" in dvc(toy, "status")


def test_the_graph_is_read_when_no_other_dvc_writes_its_record(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dvc(toy, "repro", "part@a")
    monkeypatch.chdir(toy)
    with subprocess.Popen([sys.executable, "-c", RECORDING], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"half\n"
        assert set(read_graph(["part@a"]).before) == {"first", "part@a"}
    assert other.returncode == 0


def wait_for(toy: Path, line: str) -> None:
    """Until a stage has written this line."""
    deadline = time.monotonic() + 60
    while line not in ((toy / "log.txt").read_text() if (toy / "log.txt").exists() else ""):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_leaves_no_process_and_loses_no_finished_stage(
    toy: Path, number: signal.Signals
) -> None:
    (toy / "hang-b").touch()
    (toy / "hang-c").touch()
    runner = subprocess.Popen(
        command(3), cwd=toy, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(toy, "start b")
    wait_for(toy, "start c")
    wait_for(toy, "end a")
    time.sleep(2.0)
    second = run(toy)
    assert second.returncode == 1
    assert "error: another DVC" in second.stderr
    assert "Traceback" not in second.stderr
    children = psutil.Process(runner.pid).children(recursive=True)
    os.kill(runner.pid, number)
    runner.wait(timeout=30)
    _gone, alive = psutil.wait_procs(children, timeout=15)
    stages = [process for process in alive if "work.py" in " ".join(process.cmdline())]
    for process in alive:
        process.kill()
    # A plain script like the toy's does not watch its parent; the real stages do.
    assert number == signal.SIGKILL or not stages
    (toy / "hang-b").unlink()
    (toy / "hang-c").unlink()
    assert run(toy).returncode == 0
    assert log(toy).count("start a") == 1
    assert "up to date" in dvc(toy, "status")
