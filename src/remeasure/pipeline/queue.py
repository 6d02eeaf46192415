"""`make queue`: run the experiments that `dvc exp run --queue` put aside, several side by side.

Usage: python -m remeasure.pipeline.queue [--jobs N]

Each runs in a folder of its own below build/queue, with this project's cache; the working tree is
not touched and can be worked in meanwhile. One by one the results come back as experiments of DVC.
What failed, or was stopped by ctrl-C, stays in the queue: the same command goes on from there, a
training from its last checkpoint. Stages that measure time should run alone: one job. DVC's own
workers (`dvc queue start`) take from the same queue; do not start them beside this.
"""

import argparse
import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import sleep

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.pipeline import experiments
from remeasure.pipeline.display import Display
from remeasure.pipeline.experiments import Queued
from remeasure.pipeline.jobs import (
    SECONDS_BETWEEN_LOOKS,
    Job,
    check_jobs,
    interruptible,
    start,
    stop_all,
)

FOLDER = Path("build/queue")


def main(words: list[str]) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.queue")
    parser.add_argument("--jobs", type=int, default=1, help="experiments side by side")
    options = parser.parse_args(words)
    check_jobs(options.jobs)
    waiting = experiments.queued()
    if not waiting:
        print("Nothing is queued: dvc exp run --queue -S 'model.pos=none,rope' train")
        return
    with _alone():
        _remove_left_over(waiting)
        run_queue(options.jobs)


def run_queue(jobs: int) -> None:
    """Run what is queued, and what is queued meanwhile. Raises UserError if one failed."""
    with Display() as display, interruptible():
        runner = _Runner(jobs, display)
        try:
            runner.run()
        finally:
            stop_all(runner.running)
    if runner.failed:
        raise UserError(
            f"{len(runner.failed)} of {len(runner.started)} experiments failed:"
            f" {', '.join(runner.failed)}; they stay queued: run them again, or"
            " 'dvc queue remove' them"
        )


class _Runner:
    def __init__(self, jobs: int, display: Display) -> None:
        self._jobs, self._display = jobs, display
        self._experiments: dict[int, Queued] = {}
        self.started: set[str] = set()
        self.failed: list[str] = []
        self.running: list[Job] = []
        self._done = 0

    def run(self) -> None:
        waiting = self._waiting()
        while waiting or self.running:
            while waiting and len(self.running) < self._jobs:
                self._begin(waiting.pop(0))
            self._display.show(
                [replace(job.state(), name=job.names[0]) for job in self.running],
                waiting=len(waiting),
                done=self._done,
                seconds_left=None,
            )
            sleep(SECONDS_BETWEEN_LOOKS)
            ended = [job for job in self.running if job.ended]
            for job in ended:
                self.running.remove(job)
                self._end(job)
            if ended:
                waiting = self._waiting()

    def _waiting(self) -> list[Queued]:
        return [each for each in experiments.queued() if each.stash not in self.started]

    def _begin(self, experiment: Queued) -> None:
        self.started.add(experiment.stash)
        folder = _folder(experiment)
        if experiments.has_result(folder):
            self._collect(experiment, "done before")
            return
        root = experiments.unpack(experiment, folder)
        threads = {"OMP_NUM_THREADS": "1"} if self._jobs > 1 else {}
        words = experiments.command(experiment, folder)
        job = start([experiment.name], words, folder, root=root, variables=threads)
        self._experiments[job.process.pid] = experiment
        self.running.append(job)

    def _end(self, job: Job) -> None:
        experiment = self._experiments[job.process.pid]
        if experiments.has_result(_folder(experiment)):
            self._collect(experiment, f"{job.seconds:.0f} s")
            return
        self.failed.append(experiment.name)
        self._display.line(
            f"FAILED  {experiment.name} ({job.seconds:.0f} s); the last lines:\n{job.last_lines()}"
        )

    def _collect(self, experiment: Queued, when: str) -> None:
        try:
            experiments.collect(experiment, _folder(experiment))
        except UserError as error:
            self.failed.append(experiment.name)
            self._display.line(f"FAILED  {error}")
        else:
            self._done += 1
            self._display.line(f"done    {experiment.name} ({when})")


def _folder(experiment: Queued) -> Path:
    return FOLDER / experiment.stash[:12]


def _remove_left_over(waiting: list[Queued]) -> None:
    """Folders of experiments that are no longer queued."""
    kept = {_folder(experiment).name for experiment in waiting}
    for folder in FOLDER.iterdir():
        if folder.is_dir() and folder.name.partition("-")[0] not in kept:
            shutil.rmtree(folder)


@contextmanager
def _alone() -> Iterator[None]:
    """Only one of these commands may work on a queue. Raises UserError in a second one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"the queue is being run already (it holds {lock.name})") from None
        yield


if __name__ == "__main__":
    run_command(main)
