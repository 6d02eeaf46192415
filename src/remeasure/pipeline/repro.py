"""`make repro`: bring every result up to date, several stages side by side.

Usage: python -m remeasure.pipeline.repro [--jobs N] [--cluster ADDRESS] [TARGET ...]

Files damaged behind DVC's back are found first, and last of all whether DVC kept everything. With
one job this is `dvc repro`. With more, stale stages run side by side, each in one thread, in the
order of the graph, the longest first; afterwards DVC finds nothing to do. Starting DVC takes
seconds, so one `dvc repro` takes several stages in turn while many are ready, fewer towards the
end. With a cluster, stages go out to the workers of a Dask scheduler (docs/more-machines.md); the
word `local` in place of its address stands for N threads of this process, each with a clone of its
own. Ctrl-C stops all of them; what was finished is kept.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.params.reading import read_params
from remeasure.pipeline.check import check_all
from remeasure.pipeline.cluster.options import add_options, limits_of
from remeasure.pipeline.display import Display, Running
from remeasure.pipeline.environment import dvc, environment
from remeasure.pipeline.frontier import Frontier
from remeasure.pipeline.integrity import check_kept, distrust_damaged
from remeasure.pipeline.jobs import (
    SECONDS_BETWEEN_LOOKS,
    Job,
    check_jobs,
    interruptible,
    start,
    stop_all,
)
from remeasure.pipeline.stages import Graph, read_graph, stale


def main(words: list[str]) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.repro")
    parser.add_argument("--jobs", type=int, default=1, help="stages side by side")
    parser.add_argument("targets", nargs="*", help="stages or groups; all if none is named")
    add_options(parser)
    options = parser.parse_args(words)
    check_jobs(options.jobs)
    limits = limits_of(options)
    check_all(read_params())
    for line in distrust_damaged():
        print(line, flush=True)
    if options.cluster:
        # Dask takes a second to import.
        from remeasure.pipeline.cluster.run import run_on_cluster

        run_on_cluster(
            options.cluster,
            options.targets,
            limits,
            jobs=options.jobs,
            per_gpu=options.tasks_per_gpu,
        )
    elif options.jobs == 1:
        command = [*dvc(), "repro", *options.targets]
        done = subprocess.run(command, env=environment(Path()), check=False)
        if done.returncode:
            sys.exit(done.returncode)
    else:
        run_side_by_side(options.jobs, options.targets)
    check_kept(options.targets)


def run_side_by_side(jobs: int, targets: list[str]) -> None:
    """Run all stale stages, at most `jobs` at a time. Raises UserError if one failed."""
    graph = read_graph(targets)
    with tempfile.TemporaryDirectory(prefix="remeasure-") as folder, Display() as display:
        runner = _Runner(graph, jobs, Path(folder), display)
        with interruptible():
            try:
                runner.run()
            finally:
                runner.stop()
    if runner.failed:
        raise UserError(
            f"{len(runner.failed)} of {len(graph.before)} stages failed: "
            f"{', '.join(sorted(runner.failed))}; {len(runner.skipped)} that need them did not run"
        )


class _Runner:
    def __init__(self, graph: Graph, jobs: int, folder: Path, display: Display) -> None:
        self._graph, self._jobs, self._folder, self._display = graph, jobs, folder, display
        self._frontier = Frontier(graph)
        self._running: list[Job] = []
        self.failed: set[str] = set()

    @property
    def skipped(self) -> set[str]:
        """Stages that never ran because one that they need failed."""
        return self._frontier.waiting

    def run(self) -> None:
        frontier = self._frontier
        frontier.release()
        while frontier.ready or self._running:
            while names := self._next():
                self._start(names)
            running = [job.state() for job in self._running]
            self._display.show(
                running,
                waiting=len(frontier.ready) + len(frontier.waiting),
                done=len(frontier.done),
                seconds_left=self._seconds_left(running),
            )
            time.sleep(SECONDS_BETWEEN_LOOKS)
            ended = [job for job in self._running if job.ended]
            for job in ended:
                self._running.remove(job)
                self._end(job)
            if ended:
                frontier.release()

    def _next(self) -> list[str]:
        """The stages to start now, if any: those that run alone wait until all is quiet."""
        alone, ready = self._graph.alone, self._frontier.ready
        if len(self._running) >= self._jobs or any(alone & {*job.names} for job in self._running):
            return []
        together = [name for name in ready if name not in alone]
        candidates = together or ([] if self._running else ready[:1])
        names = self._frontier.share(candidates, self._jobs)
        self._frontier.take(names)
        return names

    def stop(self) -> None:
        """Stop what still runs."""
        stop_all(self._running)
        self._running = []

    def _start(self, names: list[str]) -> None:
        words = ["--wait-for-lock", "repro", "--single-item", "--keep-going", *names]
        threads = {} if names[0] in self._graph.alone else {"OMP_NUM_THREADS": "1"}
        self._running.append(start(names, words, self._folder, variables=threads))

    def _end(self, job: Job) -> None:
        seconds = job.seconds
        failed = stale(job.names) if job.process.returncode else set()
        done = [name for name in job.names if name not in failed]
        self._frontier.finish(done, seconds / len(job.names))
        self.failed |= failed
        if done:
            self._display.line(f"done    {', '.join(done)} ({seconds:.0f} s)")
        if failed:
            names, last = ", ".join(sorted(failed)), job.last_lines()
            self._display.line(f"FAILED  {names} ({seconds:.0f} s); the last lines:\n{last}")

    def _seconds_left(self, running: list[Running]) -> float | None:
        """Time left for everything, from recorded times; None while nothing is known."""
        left = self._frontier.seconds_to_come()
        if left is None:
            return None
        for job, state in zip(self._running, running, strict=True):
            left += self._left_of(job, state)
        return left / self._jobs

    def _left_of(self, job: Job, state: Running) -> float:
        """Seconds left for a job: what its running stage says, and its later stages' records."""
        expected = {name: self._frontier.expected(name) or 0.0 for name in job.names}
        if state.seconds_left is None or state.name not in job.names:
            return max(0.0, sum(expected.values()) - state.seconds)
        later = job.names[job.names.index(state.name) + 1 :]
        return state.seconds_left + sum(expected[name] for name in later)


if __name__ == "__main__":
    run_command(main)
