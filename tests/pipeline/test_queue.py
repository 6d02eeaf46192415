"""Queued experiments of a toy pipeline: all arrive with their own metrics, whatever happens."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from remeasure.pipeline.environment import environment

PIPELINE = """
stages:
  part:
    cmd: python work.py
    deps: [work.py]
    params: [x]
    outs: [model.txt]
    metrics:
    - metrics.json: {cache: false}
  other:
    cmd: python -c "raise SystemExit('not asked for')"
"""
WORK = """
import json, os, pathlib, sys, time
x = json.loads(pathlib.Path("params.yaml").read_text().split(":")[1])
told = pathlib.Path(os.environ["TOLD"])
with (told / "log.txt").open("a") as log:
    log.write(f"start {x}\\n")
checkpoint = pathlib.Path("checkpoints/step.txt")
resumed = checkpoint.exists()
checkpoint.parent.mkdir(exist_ok=True)
checkpoint.write_text("half")
if (told / f"fail-{x}").exists():
    sys.exit(f"{x} cannot")
while (told / f"hang-{x}").exists():
    time.sleep(0.1)
pathlib.Path("model.txt").write_text(str(x))
metrics = {"y": 10 * x, "resumed": resumed, "threads": os.environ.get("OMP_NUM_THREADS")}
pathlib.Path("metrics.json").write_text(json.dumps(metrics))
"""
IDENTITY = ["-c", "user.name=n", "-c", "user.email=e"]


# Every command of DVC takes seconds.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent


class Toy:
    """A repository of git and DVC, and a folder through which tests tell its stage what to do."""

    def __init__(self, root: Path, told: Path) -> None:
        self.root, self.told = root, told
        self.environment = environment(ROOT) | {"TOLD": str(told), "OMP_NUM_THREADS": "7"}

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A command, to its end."""
        return subprocess.run(
            words,
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=check,
        )

    def git(self, *words: str) -> str:
        """Git's standard output."""
        return self.run("git", *IDENTITY, *words).stdout

    def dvc(self, *words: str) -> str:
        """DVC's standard output."""
        return self.run(sys.executable, "-m", "dvc", *words).stdout

    def queue(self, values: str, *words: str) -> None:
        """Put experiments with these values of x aside; only the stage `part` is asked for."""
        self.dvc("exp", "run", "-q", "--queue", "-S", f"x={values}", *words, "part")

    def command(self, jobs: int) -> list[str]:
        """The command under test."""
        return [sys.executable, "-m", "remeasure.pipeline.queue", "--jobs", str(jobs)]

    def start(self, jobs: int = 2) -> subprocess.Popen[bytes]:
        """The command under test, in the background."""
        return subprocess.Popen(
            self.command(jobs),
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def arrived(self) -> dict[int, dict[str, object]]:
        """Metrics of all experiments by the x that they were run with; params must agree."""
        found = {}
        refs = self.git("for-each-ref", "--format=%(refname)", "refs/exps").split()
        for ref in refs:
            if len(ref.split("/")) == 5 and ref.split("/")[2] not in ("exec", "celery"):
                x = int(self.git("show", f"{ref}:params.yaml").split(":")[1])
                assert x not in found
                found[x] = json.loads(self.git("show", f"{ref}:metrics.json"))
        return found

    def log(self) -> list[str]:
        """What the stage did, in order."""
        path = self.told / "log.txt"
        return path.read_text().splitlines() if path.exists() else []

    def wait_for(self, line: str) -> None:
        """Until the stage has written this line."""
        deadline = time.monotonic() + 60
        while line not in self.log():
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def still_queued(self) -> int:
        """How many experiments wait, as DVC counts them."""
        return self.dvc("queue", "status").count("Queued")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with one commit."""
    root = tmp_path_factory.mktemp("toy")
    toy = Toy(root, root)
    (root / ".dvc").mkdir()
    (root / ".dvc/config").write_text("[core]\n    analytics = false\n    check_update = false\n")
    (root / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")
    (root / ".gitignore").write_text("/model.txt\n/build/\n/checkpoints/\n")
    (root / "dvc.yaml").write_text(PIPELINE)
    (root / "params.yaml").write_text("x: 0\n")
    (root / "work.py").write_text(WORK)
    toy.git("init", "-q")
    toy.git("config", "user.name", "n")
    toy.git("config", "user.email", "e")
    toy.git("add", ".")
    toy.git("commit", "-q", "-m", "first")
    return root


@pytest.fixture
def toy(template: Path, tmp_path: Path) -> Toy:
    """A copy of it."""
    shutil.copytree(template, tmp_path / "toy")
    (tmp_path / "told").mkdir()
    return Toy(tmp_path / "toy", tmp_path / "told")


def test_all_arrive_but_the_one_that_fails_which_stays_queued(toy: Toy) -> None:
    toy.queue("1,2,3")
    (toy.told / "fail-2").touch()
    (toy.root / "work.py").write_text("in the middle of an edit")
    done = toy.run(*toy.command(2), check=False)
    assert done.returncode == 1
    assert "2 cannot" in done.stdout
    assert "1 of 3 experiments failed" in done.stderr
    assert "Traceback" not in done.stderr
    expected = {"resumed": False, "threads": "1"}
    assert toy.arrived() == {x: {"y": 10 * x} | expected for x in (1, 3)}
    assert toy.still_queued() == 1
    assert (toy.root / "work.py").read_text() == "in the middle of an edit"
    (toy.told / "fail-2").unlink()
    done = toy.run(*toy.command(1))
    assert set(toy.arrived()) == {1, 2, 3}
    # One job may use all cores; it went on from its checkpoint.
    assert toy.arrived()[2] == {"y": 20, "resumed": True, "threads": "7"}
    assert toy.still_queued() == 0
    assert not [path for path in (toy.root / "build/queue").iterdir() if path.is_dir()]
    assert "Nothing is queued" in toy.run(*toy.command(1)).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_loses_nothing(toy: Toy, number: signal.Signals) -> None:
    toy.queue("1,2,3,4")
    (toy.told / "hang-2").touch()
    (toy.told / "hang-3").touch()
    runner = toy.start()
    toy.wait_for("start 2")
    toy.wait_for("start 3")
    second = toy.run(*toy.command(1), check=False)
    assert "is being run already" in second.stderr
    children = psutil.Process(runner.pid).children(recursive=True)
    os.kill(runner.pid, number)
    runner.wait(timeout=30)
    _gone, alive = psutil.wait_procs(children, timeout=15)
    for process in alive:
        process.kill()
    assert set(toy.arrived()) == {1}
    assert toy.still_queued() == 3
    for x in (2, 3):
        (toy.told / f"hang-{x}").unlink()
    toy.run(*toy.command(2))
    found = toy.arrived()
    assert {x: metrics["y"] for x, metrics in found.items()} == {x: 10 * x for x in (1, 2, 3, 4)}
    assert [found[x]["resumed"] for x in (1, 2, 3, 4)] == [False, True, True, False]
    assert toy.log().count("start 1") == 1
    assert toy.still_queued() == 0


def test_what_is_queued_meanwhile_runs_too(toy: Toy) -> None:
    toy.queue("1,2")
    (toy.told / "hang-1").touch()
    runner = toy.start()
    toy.wait_for("start 1")
    toy.queue("3")
    (toy.told / "hang-1").unlink()
    assert runner.wait(timeout=120) == 0
    assert set(toy.arrived()) == {1, 2, 3}


def test_a_name_that_is_taken_waits_for_the_person(toy: Toy) -> None:
    toy.queue("1", "--name", "same")
    toy.queue("2", "--name", "same")
    done = toy.run(*toy.command(1), check=False)
    assert done.returncode == 1
    assert "if another experiment has this name" in done.stdout
    assert set(toy.arrived()) == {1}
    toy.dvc("exp", "rename", "same", "first")
    done = toy.run(*toy.command(1))
    assert "done before" in done.stdout
    assert set(toy.arrived()) == {1, 2}
    assert toy.log().count("start 2") == 1
    assert toy.still_queued() == 0


def test_eight_at_once_with_a_full_set_of_results(toy: Toy) -> None:
    values = range(1, 9)
    toy.queue(",".join(map(str, values)))
    toy.run(*toy.command(4))
    assert {x: metrics["y"] for x, metrics in toy.arrived().items()} == {x: 10 * x for x in values}
    assert toy.still_queued() == 0
