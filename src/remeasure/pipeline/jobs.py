"""Processes of DVC side by side: how they start, how far they are, and how they are stopped."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from remeasure.commands import die_with_parent
from remeasure.errors import UserError
from remeasure.pipeline.display import Running
from remeasure.pipeline.environment import dvc, environment
from remeasure.progress import PROGRESS_FILE

SECONDS_BETWEEN_LOOKS = 0.3
SECONDS_TO_STOP = 10.0
LOG_LINES_SHOWN = 15
STOPS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Job:
    """One running command of DVC for the things named."""

    names: list[str]
    process: subprocess.Popen[bytes]
    log: Path
    progress: Path
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it started."""
        return time.monotonic() - self.started

    @property
    def ended(self) -> bool:
        """Whether it came to its end, good or bad."""
        return self.process.poll() is not None

    def last_lines(self) -> str:
        """The end of what it printed, indented."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"        {line}" for line in lines[-LOG_LINES_SHOWN:])

    def state(self) -> Running:
        """How far it is, as the stage that it runs has said."""
        try:
            state: dict[str, Any] = json.loads(self.progress.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            state = {}
        return Running(
            str(state.get("label", self.names[0])),
            int(state.get("done", 0)),
            int(state.get("total", 0)),
            str(state.get("note", "")),
            self.seconds,
            state.get("seconds_left"),
        )


def check_jobs(jobs: int) -> None:
    """Raises UserError unless so many processes side by side can be."""
    if jobs < 1:
        raise UserError(f"--jobs: {jobs} is not allowed; at least 1")


def start(
    names: list[str],
    words: Sequence[str],
    folder: Path,
    *,
    root: Path = Path(),
    variables: Mapping[str, str],
) -> Job:
    """Start DVC with these words in the project at `root`; its log goes to `folder`.

    `variables` are added to its environment.
    """
    log, progress = folder / f"{names[0]}.log", folder / f"{names[0]}.json"
    progress.unlink(missing_ok=True)
    told = {"PYTHONUNBUFFERED": "1", PROGRESS_FILE: str(progress.resolve())}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*dvc(), *words],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(root) | told | dict(variables),
            start_new_session=True,
            preexec_fn=partial(_prepare_child, os.getpid()),
        )
    return Job(names, process, log, progress)


def stop_all(jobs: Iterable[Job]) -> None:
    """Stop what still runs: politely first, then by force, the whole process group each."""
    running = list(jobs)
    for job in running:
        _signal(job, signal.SIGINT)
    deadline = time.monotonic() + SECONDS_TO_STOP
    for job in running:
        try:
            job.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _signal(job, signal.SIGKILL)
            job.process.wait()
        _signal(job, signal.SIGKILL)


@contextmanager
def interruptible() -> Iterator[None]:
    """In the block, each signal of STOPS raises KeyboardInterrupt.

    Also SIGINT: in a shell's background job Python starts with it ignored.
    """
    previous = {number: signal.signal(number, _interrupt) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _prepare_child(runner: int) -> None:
    """In the child, before DVC starts: end with this runner, and listen to SIGINT in any case.

    A shell's background jobs start with SIGINT ignored, and their children would inherit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    die_with_parent(runner)


def _signal(job: Job, number: signal.Signals) -> None:
    try:
        os.killpg(job.process.pid, number)
    except ProcessLookupError:
        return
