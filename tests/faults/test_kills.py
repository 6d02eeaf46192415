"""SIGKILL to the stage, to DVC and to the runner, at random moments of real runs in a tiny copy.

The same command again must end with results equal byte for byte to those of an undisturbed run,
with no process left over and no lock to be removed by hand.
"""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import tiny

from remeasure.data.bpe import train
from remeasure.data.encoding import encode_and_split
from remeasure.data.tokens import load_tokens, save_tokens
from remeasure.experiments.language import train_and_measure
from remeasure.params.ablations import ablation_plan
from remeasure.params.reading import read_params
from remeasure.pipeline.environment import environment
from remeasure.records.files import write_json

pytestmark = pytest.mark.faults

DVC = ("dvc", "repro")
RUNNER = ("remeasure.pipeline.repro", "--jobs", "2")
SECONDS_TO_GO = 20.0

Victim = Callable[[psutil.Process], psutil.Process | None]


def family(process: psutil.Process) -> Iterator[psutil.Process]:
    """A process and all its descendants, as long as they are there."""
    yield process
    try:
        yield from process.children(recursive=True)
    except psutil.NoSuchProcess:
        return


def first_running(process: psutil.Process, sign: str) -> psutil.Process | None:
    """The first descendant of a process with `sign` in its command line, itself included."""
    for each in family(process):
        try:
            words = each.cmdline()
        except psutil.NoSuchProcess:
            continue
        if words and "python" in words[0] and any(sign in word for word in words[1:3]):
            return each
    return None


def stage(process: psutil.Process) -> psutil.Process | None:
    return first_running(process, "stages/")


def dvc(process: psutil.Process) -> psutil.Process | None:
    return first_running(process, "dvc")


def itself(process: psutil.Process) -> psutil.Process | None:
    return process


def killed_after(folder: Path, words: tuple[str, ...], victim: Victim, seconds: float) -> bool:
    """Start a command, kill the victim so many seconds after it first appears; whether it could be.

    Then every process that works in the folder must go by itself.
    """
    started = subprocess.Popen(
        tiny.command(*words),
        cwd=folder,
        env=environment(folder) | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    process = psutil.Process(started.pid)
    while started.poll() is None and victim(process) is None:
        time.sleep(0.02)
    time.sleep(seconds)
    target = victim(process) if started.poll() is None else None
    if target is not None:
        target.kill()
    started.wait(timeout=120)
    wait_until_alone(folder)
    return target is not None


def working_in(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()) == folder:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def wait_until_alone(folder: Path) -> None:
    """Fails if something goes on working in the folder; then it is ended."""
    deadline = time.monotonic() + SECONDS_TO_GO
    while left := working_in(folder):
        if time.monotonic() > deadline:
            told = [" ".join(process.cmdline()) for process in left]
            for process in left:
                process.kill()
            pytest.fail(f"orphans after {SECONDS_TO_GO:.0f} s: {told}")
        time.sleep(0.1)


@pytest.fixture
def tokenized(tmp_path: Path) -> Path:
    """A tiny copy with its tokens, made without DVC: what a kill of a training stage needs."""
    folder = tiny.make_tiny(tmp_path / "tiny")
    tokens, _ = encode_and_split(folder / "corpus.txt", train(tiny.TEXT, 280), 0.1)
    save_tokens(folder / "data/tokens.npz", tokens)
    return folder


def undisturbed(folder: Path) -> bytes:
    """The record of ablation@plain, measured here and now in one go."""
    plan = ablation_plan(read_params(folder / "params.yaml"), "plain")
    trained = train_and_measure(plan, load_tokens(folder / "data/tokens.npz"), "plain", None)
    write_json(folder / "undisturbed.json", trained.record)
    return (folder / "undisturbed.json").read_bytes()


def test_a_stage_killed_and_dvc_killed(tokenized: Path) -> None:
    words = (*DVC, "--single-item", "ablation@plain")
    moments = random.Random()
    for victim in (stage, dvc):
        assert killed_after(tokenized, words, victim, moments.uniform(1.0, 3.0))
    done = tiny.run(tokenized, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tokenized / "metrics/ablations/plain.json").read_bytes() == undisturbed(tokenized)


def finish(folder: Path, words: tuple[str, ...], target: str) -> None:
    done = tiny.run(folder, *words, target)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "up to date" in tiny.run(folder, "dvc", "status", target).stdout


@pytest.mark.slow
def test_a_stage_whose_dvc_died_while_it_imported_does_not_train(tokenized: Path) -> None:
    words = (*DVC, "--single-item", "ablation@plain")
    started = subprocess.Popen(
        tiny.command(*words),
        cwd=tokenized,
        env=environment(tokenized),
        stderr=subprocess.DEVNULL,
    )
    process = psutil.Process(started.pid)
    while stage(process) is None:
        time.sleep(0.02)
    time.sleep(0.5)
    process.kill()
    started.wait()
    wait_until_alone(tokenized)
    assert not (tokenized / "metrics/ablations/plain.json").exists()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("words", "target", "victim"),
    [
        (DVC, "ablation@plain", stage),
        (DVC, "ablation@plain", dvc),
        (RUNNER, "ablation", itself),
    ],
    ids=["stage", "dvc", "runner"],
)
def test_ten_kills_at_random_moments(
    measured_copy: Path, tmp_path: Path, words: tuple[str, ...], target: str, victim: Victim
) -> None:
    expected = tiny.results(measured_copy)
    moments, hits = random.Random(), 0
    while hits < 10:
        folder = tiny.make_tiny(tmp_path / f"run{hits}")
        seconds = moments.uniform(0.0, 15.0)
        hit = killed_after(folder, (*words, target), victim, seconds)
        finish(folder, words, target)
        print(f"{words[0]} {victim.__name__}: {seconds:.1f} s after it appeared, hit: {hit}")
        found = tiny.results(folder)
        assert {"data/tokens.npz", "metrics/ablations/plain.json"} <= found.keys()
        assert found == {path: expected[path] for path in found}
        shutil.rmtree(folder)
        hits += hit
