"""Sends stale stages out as soon as what they need is done, and takes in what comes back.

Stages whose `meta` says `runs_here` (they need this machine's network) or `runs_alone` (they
measure this machine's time), and those that read whole folders of results, run here as `dvc repro`
runs them; the ones that run alone wait until nothing is out.
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from remeasure.errors import UserError
from remeasure.pipeline.cluster.accepting import refusal
from remeasure.pipeline.cluster.asking import Bundle, errand, measuring, uncommitted
from remeasure.pipeline.cluster.fleet import Attempt, Fleet
from remeasure.pipeline.cluster.options import Limits
from remeasure.pipeline.cluster.recording import Recorder, Result
from remeasure.pipeline.cluster.task import Reply
from remeasure.pipeline.cluster.workers import Workers
from remeasure.pipeline.display import Display
from remeasure.pipeline.frontier import Frontier
from remeasure.pipeline.jobs import SECONDS_BETWEEN_LOOKS, Job, start, stop_all
from remeasure.pipeline.stages import Graph, stale

ROUNDS = 3
"""So often a worker may lack something: first the commit, then files; once more if it restarted."""
SECONDS_ASLEEP = 30.0
"""If this process itself did not run for so long, nobody else was silent."""
LINES_SHOWN = 15


class Coordinator:
    """One run: all of a graph's stale stages, to their end or failure."""

    def __init__(
        self,
        graph: Graph,
        stages: Mapping[str, Any],
        bundle: Bundle,
        workers: Workers,
        limits: Limits,
        folder: Path,
        display: Display,
    ) -> None:
        self._graph, self._stages, self._bundle = graph, stages, bundle
        self._workers, self._limits = workers, limits
        self._folder, self._display = folder, display
        self._frontier = Frontier(graph)
        self._fleet = Fleet()
        self._measuring = measuring(stages.values())
        self._recorder = Recorder(stages)
        self._accepted: list[Attempt] = []
        self._staying: dict[str, bool] = {}
        self._here: list[Job] = []
        self._lost: Counter[str] = Counter()
        self._looked = self._last_worker = time.monotonic()
        self.failed: set[str] = set()

    @property
    def skipped(self) -> set[str]:
        """Stages that never ran because one that they need failed."""
        return self._frontier.waiting

    def run(self) -> None:
        """To the end. Raises UserError if there is no worker for too long."""
        self._frontier.release()
        while self._frontier.ready or self._fleet.attempts or self._here or self._accepted:
            self._look()
            self._start()
            self._show()
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if self._collect():
                self._frontier.release()

    def stop(self) -> None:
        """Stop what still runs, here and elsewhere, and record what has come back."""
        for attempt in self._fleet.attempts:
            attempt.future.cancel()
        stop_all(self._here)
        while self._accepted:
            self._record()
            time.sleep(SECONDS_BETWEEN_LOOKS)
        self._recorder.close()

    def _look(self) -> None:
        """Who is there, and what was heard."""
        now = time.monotonic()
        asleep, self._looked = now - self._looked > SECONDS_ASLEEP, now
        if not self._workers.connected:
            self._reconnect()
        self._fleet.see(self._workers.machines())
        for event in self._workers.heard():
            self._fleet.wake(str(event.get("worker")))
            self._fleet.hear(str(event.get("attempt")), dict(event.get("state") or {}))
        for attempt in self._fleet.attempts if asleep else ():
            attempt.heard = now
        if self._fleet.usable or not self._to_send():
            self._last_worker = now
        elif now - self._last_worker > self._limits.patience:
            raise UserError(
                f"no worker could be had for {self._limits.patience:.0f} s; what is finished is"
                " kept: start workers, then the same command again"
            )

    def _reconnect(self) -> None:
        """The scheduler is gone, and with it all that is out: no fault of a stage or a worker."""
        self._display.line("the scheduler is gone; waiting for it")
        for attempt in list(self._fleet.attempts):
            self._fleet.end(attempt)
            self._frontier.put_back(attempt.stage)
        deadline = time.monotonic() + self._limits.patience
        while True:
            try:
                self._workers.connect()
                return
            except UserError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def _to_send(self) -> list[str]:
        return [name for name in self._frontier.ready if not self._stays(name)]

    def _stays(self, name: str) -> bool:
        """Whether a stage runs here."""
        if name not in self._staying:
            self._staying[name] = _stays(self._stages[name])
        return self._staying[name]

    def _start(self) -> None:
        """All that can be started now. While a stage runs alone nothing else does."""
        alone = self._graph.alone
        if any(alone & {*job.names} for job in self._here):
            return
        self._start_elsewhere(self._to_send())
        stay = [name for name in self._frontier.ready if self._stays(name)]
        together = [name for name in stay if name not in alone]
        quiet = not (self._here or self._fleet.attempts or self._accepted or self._to_send())
        if together and not self._here:
            self._start_here(together[0])
        elif stay and quiet:
            self._start_here(stay[0])

    def _start_elsewhere(self, names: list[str]) -> None:
        """As many as there is room for, unless what they would be sent is no longer committed."""
        if not names or not self._fleet.has_room():
            return
        dirty = uncommitted(self._measuring)
        if dirty:
            self._frontier.take(names)
            self.failed |= set(names)
            self._display.line(f"FAILED  {len(names)} stages were not sent; {dirty}")
            return
        for name in names:
            if not self._fleet.has_room():
                break
            self._send(name)

    def _start_here(self, name: str) -> None:
        self._frontier.take([name])
        words = ["--wait-for-lock", "repro", "--single-item", name]
        self._here.append(start([name], words, self._folder, variables={}))

    def _send(self, name: str) -> None:
        found = self._fleet.place(name)
        if found is None:
            return
        machine, slot = found
        what = errand(
            self._stages[name],
            self._bundle,
            seconds=self._limits.stage,
            threads=self._limits.threads,
        )
        told = {"attempt": self._fleet.number(), "gpu": machine.gpu(slot)}
        what = replace(what, request=what.request | told)
        self._frontier.take([name])
        future = machine.executor.submit(self._workers.task, what.request, {})
        self._fleet.begin(what, machine, slot, future)

    def _show(self) -> None:
        frontier, attempts = self._frontier, self._fleet.attempts
        running = [job.state() for job in self._here] + [each.running() for each in attempts]
        left = frontier.seconds_to_come()
        if left is not None:
            left += sum(each.seconds_left or 0.0 for each in running)
            left /= max(1, self._fleet.slots)
        self._display.show(
            running,
            waiting=len(frontier.ready) + len(frontier.waiting),
            done=len(frontier.done),
            seconds_left=left,
        )

    def _collect(self) -> bool:
        """Take in what has ended; whether that may have made other stages ready."""
        for attempt in [each for each in self._fleet.attempts if self._has_ended(each)]:
            self._end(attempt)
        recorded = self._record()
        # What asks DVC would have to wait for the recorder, which holds its lock.
        ended = [] if self._recorder.busy else [job for job in self._here if job.ended]
        for job in ended:
            self._here.remove(job)
            self._end_here(job)
        return recorded or bool(ended)

    def _end_here(self, job: Job) -> None:
        if job.process.returncode and stale(job.names):
            self._fail(job.names[0], f"here, {job.seconds:.0f} s", job.last_lines())
        else:
            self._frontier.finish(job.names, job.seconds)
            self._display.line(f"done    {job.names[0]} here ({job.seconds:.0f} s)")

    def _has_ended(self, attempt: Attempt) -> bool:
        silent = time.monotonic() - attempt.heard > self._limits.silence
        return attempt.future.done() or silent or not self._fleet.has(attempt.machine)

    def _end(self, attempt: Attempt) -> None:
        """Take in one attempt. One that lacks something goes on."""
        if not attempt.future.done():
            self._give_up(attempt)
        elif attempt.future.cancelled():
            self._fleet.end(attempt)
            self._frontier.put_back(attempt.stage)
        elif error := attempt.future.exception():
            self._lose(attempt, f"{type(error).__name__}: {error}".splitlines()[0])
        else:
            self._judge(attempt, attempt.future.result())

    def _judge(self, attempt: Attempt, reply: Any) -> None:
        outcome = reply.get("outcome") if isinstance(reply, Mapping) else None
        reason = str(reply.get("reason", "")) if isinstance(reply, Mapping) else ""
        if outcome == "lacks":
            self._supply(attempt, reply["lacks"])
        elif outcome == "failed":
            self._fleet.end(attempt)
            lines = [f"        {line}" for line in reply.get("log", [])[-LINES_SHOWN:]]
            where = f"on {attempt.machine.name}, {attempt.seconds:.0f} s, {reason}"
            self._fail(attempt.stage, where, "\n".join(lines))
        elif outcome == "starved":
            self._lose(attempt, reason)
        elif outcome == "done":
            self._accept(attempt, reply)
        else:
            self._refuse(attempt, reason or "its reply is not of the form that was asked for")

    def _accept(self, attempt: Attempt, reply: Reply) -> None:
        """If it answers what was asked, to the last checksum."""
        reason = refusal(attempt.errand.request, reply)
        if reason:
            self._refuse(attempt, reason)
            return
        self._fleet.end(attempt)
        attempt.took, attempt.files = attempt.seconds, reply["files"]
        self._accepted.append(attempt)

    def _supply(self, attempt: Attempt, lacks: Any) -> None:
        """Send what a worker lacks, if it is of what the stage needs."""
        wanted = {self._bundle.md5, *attempt.errand.sources}
        attempt.rounds += 1
        if not isinstance(lacks, list) or not set(lacks) <= wanted or attempt.rounds > ROUNDS:
            self._refuse(attempt, "it lacks what it was sent, or what the stage does not need")
            return
        contents = {md5: attempt.errand.content(md5, self._bundle) for md5 in lacks}
        attempt.heard = time.monotonic()
        attempt.future = attempt.machine.executor.submit(
            self._workers.task, attempt.errand.request, contents
        )

    def _record(self) -> bool:
        """Let DVC record what was accepted, all that is there in one go; whether any is done.

        Meanwhile other stages are sent and come back: with a thousand stages it takes a while.
        """
        outcome = self._recorder.outcome()
        for name, refused in outcome.items():
            attempt = next(each for each in self._accepted if each.stage == name)
            self._accepted.remove(attempt)
            if refused:
                self._fail(name, "could not be recorded", f"        {refused}")
                continue
            self._frontier.finish([name], attempt.took)
            self._display.line(f"done    {name} on {attempt.machine.name} ({attempt.took:.0f} s)")
        if self._accepted and not self._recorder.busy:
            self._recorder.begin(
                [Result(each.errand.request, each.files) for each in self._accepted]
            )
        return bool(outcome)

    def _give_up(self, attempt: Attempt) -> None:
        """Its worker is gone or silent."""
        attempt.future.cancel()
        if self._fleet.has(attempt.machine):
            self._fleet.avoid_while_silent(attempt.machine)
            self._lose(attempt, f"nothing heard for {self._limits.silence:.0f} s")
        else:
            self._lose(attempt, "the worker is gone")

    def _refuse(self, attempt: Attempt, reason: str) -> None:
        """What this worker sends is not used; nothing more goes there."""
        self._fleet.distrust(attempt.machine)
        self._lose(attempt, f"REFUSED: {reason}; nothing more is sent there")

    def _lose(self, attempt: Attempt, reason: str) -> None:
        """Once more, elsewhere, unless it was lost too often."""
        self._fleet.end(attempt)
        self._fleet.lose(attempt)
        name, where = attempt.stage, attempt.machine.name
        self._lost[name] += 1
        if self._lost[name] >= self._limits.tries:
            self._fail(name, f"lost {self._lost[name]} times", f"        {where}: {reason}")
            return
        self._frontier.put_back(name)
        self._display.line(
            f"again   {name}, lost on {where}: {reason} (try {self._lost[name]} of"
            f" {self._limits.tries})"
        )

    def _fail(self, name: str, where: str, last: str) -> None:
        self.failed.add(name)
        self._display.line(f"FAILED  {name} ({where}); the last lines:\n{last}")


def _stays(stage: Any) -> bool:
    """By its `meta`, or because it reads folders, which hold the results of all the others."""
    meta = stage.meta or {}
    folders = any(Path(str(dep)).is_dir() for dep in stage.deps)
    return bool(meta.get("runs_here") or meta.get("runs_alone") or folders)
