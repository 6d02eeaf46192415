"""A real scheduler and three real workers, in the ways that they break.

Whatever is done to them, the results must equal those of a plain `dvc repro`, byte for byte.
"""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
import tiny
from loopback import Loopback

from remeasure.pipeline.cluster import run as cluster_run
from remeasure.pipeline.cluster import task
from remeasure.pipeline.cluster.options import Limits
from remeasure.pipeline.cluster.workers import DaskWorkers
from remeasure.pipeline.environment import environment

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.timeout(900)]

NAMES = ("a", "b", "c")


def command(address: str, *words: str) -> list[str]:
    return tiny.command("remeasure.pipeline.repro", "--cluster", address, *words)


class Run:
    """The coordinator as a process in a copy of the project."""

    def __init__(self, folder: Path, loopback: Loopback, *words: str) -> None:
        self.folder = folder
        self._log = folder.parent / "coordinator.log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                command(loopback.address, *words),
                cwd=folder,
                env=environment(folder) | {"OMP_NUM_THREADS": "1"},
                stdout=log,
                stderr=log,
            )

    def said(self) -> str:
        return self._log.read_text()

    def wait(self) -> str:
        """To a good end; what it said."""
        assert self.process.wait(timeout=600) == 0, self.said()
        return self.said()


def until(found: Callable[[], Any], run: Run) -> Any:
    """What is found at last, while the coordinator runs."""
    deadline = time.monotonic() + 300
    while not (result := found()):
        assert run.process.poll() is None, run.said()
        assert time.monotonic() < deadline, run.said()
        time.sleep(0.05)
    return result


def training(worker: psutil.Process) -> psutil.Process | None:
    """The stage that a worker runs, once it trains."""
    for child in worker.children():
        if "stages/ablation.py" in " ".join(child.cmdline()):
            return child
    return None


def busy(workers: Mapping[str, psutil.Process]) -> tuple[str, psutil.Process] | None:
    """The first worker that trains, with its stage."""
    for name, worker in workers.items():
        stage = training(worker)
        if stage is not None and stage.cpu_times().user > 1.0:
            return name, stage
    return None


def check(folder: Path, expected: Path) -> None:
    """Equal to the bytes of a plain `dvc repro`, and DVC finds nothing to do."""
    found, wanted = tiny.results(folder), tiny.results(expected)
    assert {"metrics/ablations/plain.json", "metrics/ablations/deep.json"} <= found.keys()
    assert found == {path: wanted[path] for path in found}
    target = "ablation"
    assert "up to date" in tiny.run(folder, "dvc", "status", target).stdout
    assert "Running" not in tiny.run(folder, "dvc", "repro", target).stdout


@pytest.fixture
def folder(tokenized: Path, tmp_path: Path) -> Path:
    """A copy with its tokens."""
    shutil.copytree(tokenized, tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def workers(loopback: Loopback) -> dict[str, psutil.Process]:
    """Three, by name."""
    loopback.scheduler()
    return {name: loopback.worker(name) for name in NAMES}


def left_in(tmp_path: Path) -> list[Path]:
    """Scratch clones that workers did not remove."""
    return list((tmp_path / "dask").rglob("task-*"))


def test_all_of_it(
    committed: Path,
    measured_copy: Path,
    tmp_path: Path,
    loopback: Loopback,
    workers: dict[str, psutil.Process],
) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(committed, folder)
    said = Run(folder, loopback).wait()
    assert "done    download here" in said
    assert "done    train on " in said
    check(folder, measured_copy)
    assert tiny.results(folder) == tiny.results(measured_copy)
    assert "up to date" in tiny.run(folder, "dvc", "status").stdout
    told = tiny.provenance(folder, "plain.json")
    assert told["commit"]["uncommitted_changes"] is False
    assert told["machine"]["system"]
    assert not left_in(tmp_path)


def test_a_worker_killed_in_mid_training(
    folder: Path,
    measured_copy: Path,
    loopback: Loopback,
    workers: dict[str, psutil.Process],
) -> None:
    run = Run(folder, loopback, "ablation")
    name, stage = until(lambda: busy(workers), run)
    workers[name].kill()
    said = run.wait()
    assert f"lost on {name}: the worker is gone (try 1 of 3)" in said
    check(folder, measured_copy)
    psutil.wait_procs([stage], timeout=20)
    assert not stage.is_running()


def test_a_worker_that_hangs(
    folder: Path,
    measured_copy: Path,
    loopback: Loopback,
    workers: dict[str, psutil.Process],
) -> None:
    run = Run(folder, loopback, "ablation", "--silence", "20")
    name, _ = until(lambda: busy(workers), run)
    workers[name].send_signal(signal.SIGSTOP)
    said = run.wait()
    workers[name].send_signal(signal.SIGCONT)
    assert f"lost on {name}: nothing heard for 20 s (try 1 of 3)" in said
    check(folder, measured_copy)


def test_a_stage_that_the_system_kills(
    folder: Path,
    measured_copy: Path,
    tmp_path: Path,
    loopback: Loopback,
    workers: dict[str, psutil.Process],
) -> None:
    run = Run(folder, loopback, "ablation")
    name, stage = until(lambda: busy(workers), run)
    stage.kill()
    said = run.wait()
    assert f"lost on {name}: killed by signal 9 (try 1 of 3)" in said
    check(folder, measured_copy)
    assert not left_in(tmp_path)


def test_a_scheduler_started_again(folder: Path, measured_copy: Path, loopback: Loopback) -> None:
    scheduler = loopback.scheduler()
    workers = {name: loopback.worker(name) for name in NAMES}
    run = Run(folder, loopback, "ablation")
    until(lambda: busy(workers), run)
    scheduler.kill()
    scheduler.wait()
    _, alive = psutil.wait_procs(list(workers.values()), timeout=60)
    assert not alive, "a worker outlived its scheduler"
    loopback.scheduler()
    for name in NAMES:
        loopback.worker(name)
    said = run.wait()
    assert "the scheduler is gone" in said
    check(folder, measured_copy)


def test_a_coordinator_killed_and_started_again(
    folder: Path,
    measured_copy: Path,
    tmp_path: Path,
    loopback: Loopback,
    workers: dict[str, psutil.Process],
) -> None:
    first = Run(folder, loopback, "ablation@plain")
    first.wait()
    second = Run(folder, loopback, "ablation")
    _, stage = until(lambda: busy(workers), second)
    second.process.kill()
    second.process.wait()
    _, alive = psutil.wait_procs([stage], timeout=60)
    assert not alive, "a worker went on although nobody waits"
    said = Run(folder, loopback, "ablation").wait()
    assert said.count("done    ablation@plain") == 1
    check(folder, measured_copy)
    assert not left_in(tmp_path)


def test_a_worker_with_other_code_installed(
    folder: Path, measured_copy: Path, tmp_path: Path, loopback: Loopback
) -> None:
    other = tmp_path / "installed" / "remeasure"
    (other / "pipeline" / "cluster").mkdir(parents=True)
    for package in (other, other / "pipeline", other / "pipeline" / "cluster"):
        (package / "__init__.py").write_text("raise SystemExit('the code installed here was used')")
    loopback.scheduler()
    for name in NAMES:
        loopback.worker(name, code=tmp_path / "installed")
    Run(folder, loopback, "ablation").wait()
    check(folder, measured_copy)


def test_a_worker_that_alters_metrics(
    folder: Path,
    measured_copy: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    loopback: Loopback,
    workers: dict[str, psutil.Process],
) -> None:
    def altering(request: dict[str, Any], contents: dict[str, bytes]) -> dict[str, Any]:
        from distributed import get_worker

        reply = perform(request, contents)
        if get_worker().name in ("a", "b") and reply["outcome"] == "done":
            for path in request["outputs"]:
                reply["files"][path] = reply["files"][path].replace(b"1", b"2")
        return reply

    perform = task.perform

    class Altering(DaskWorkers):
        def __init__(self, address: str, per_gpu: int) -> None:
            super().__init__(address, per_gpu)
            self.task = altering

    monkeypatch.setattr(cluster_run, "DaskWorkers", Altering)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    cluster_run.run_on_cluster(loopback.address, ["ablation"], Limits(tries=4), jobs=1, per_gpu=1)
    said = capsys.readouterr().out
    assert "REFUSED: output" in said
    assert "not what its entry says" in said
    check(folder, measured_copy)
