"""Which worker takes which stage: a free one, elsewhere than before, none that was set aside."""

import itertools
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from remeasure.pipeline.cluster.asking import Errand
from remeasure.pipeline.cluster.task import Reply
from remeasure.pipeline.cluster.workers import Machine
from remeasure.pipeline.display import Running


@dataclass
class Attempt:
    """One try of a stage on one worker."""

    errand: Errand
    machine: Machine
    slot: int
    number: str
    future: Future[Reply]
    rounds: int = 0
    """How often it was sent what it lacked."""
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    state: dict[str, Any] = field(default_factory=dict)
    took: float = 0.0
    """Seconds to its accepted reply."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What that brought."""

    @property
    def stage(self) -> str:
        """The name of the stage."""
        return str(self.errand.request["stage"])

    @property
    def seconds(self) -> float:
        """Since it was sent."""
        return time.monotonic() - self.started

    def running(self) -> Running:
        """How far it is, as the worker has told."""
        return Running(
            f"{self.stage} on {self.machine.name}",
            int(self.state.get("done", 0)),
            int(self.state.get("total", 0)),
            str(self.state.get("note", "")),
            self.seconds,
            self.state.get("seconds_left"),
        )


class Fleet:
    """The workers that can be had, what runs on them, and which of them to avoid."""

    def __init__(self) -> None:
        self._machines: list[Machine] = []
        self._warm: set[str] = set()
        self._silent: set[str] = set()
        self._distrusted: set[str] = set()
        self._taken: dict[str, set[int]] = {}
        self._failed_on: dict[str, set[str]] = {}
        self._numbers = itertools.count(1)
        self.attempts: list[Attempt] = []

    def see(self, machines: Iterable[Machine]) -> None:
        """These are there now."""
        self._machines = list(machines)

    def has(self, machine: Machine) -> bool:
        """Whether a worker is still there."""
        return any(each.address == machine.address for each in self._machines)

    @property
    def usable(self) -> list[Machine]:
        """Those that stages are sent to."""
        avoided = self._silent | self._distrusted
        return [each for each in self._machines if each.address not in avoided]

    @property
    def slots(self) -> int:
        """How many stages they take side by side."""
        return sum(machine.slots for machine in self.usable)

    def place(self, stage: str) -> tuple[Machine, int] | None:
        """A worker and a slot for a stage; None if it has to wait.

        A stage that was lost on one worker waits for another, if there is any.
        """
        usable, failed_on = self.usable, self._failed_on.get(stage, set())
        elsewhere = [each for each in usable if each.address not in failed_on] or usable
        free = [(machine, self._free(machine)) for machine in elsewhere]
        machine, slots = max(free, key=lambda each: len(each[1]), default=(None, []))
        return (machine, slots[0]) if machine is not None and slots else None

    def has_room(self) -> bool:
        """Whether any worker can take one more stage."""
        return any(self._free(machine) for machine in self.usable)

    def begin(self, errand: Errand, machine: Machine, slot: int, future: Future[Reply]) -> None:
        """A stage was sent."""
        number = str(errand.request["attempt"])
        self.attempts.append(Attempt(errand, machine, slot, number, future))
        self._taken.setdefault(machine.address, set()).add(slot)

    def end(self, attempt: Attempt) -> None:
        """A stage is out no longer, whatever became of it."""
        self.attempts.remove(attempt)
        self._taken[attempt.machine.address].discard(attempt.slot)

    def number(self) -> str:
        """A name for the next attempt, not used before in this run."""
        return str(next(self._numbers))

    def hear(self, number: str, state: dict[str, Any]) -> None:
        """An attempt has told how far it is: its worker is alive and has all that it needs."""
        for attempt in self.attempts:
            if attempt.number == number:
                attempt.heard, attempt.state = time.monotonic(), state
                self._warm.add(attempt.machine.address)

    def wake(self, address: str) -> None:
        """Something came from a worker that was silent."""
        self._silent.discard(address)

    def lose(self, attempt: Attempt) -> None:
        """The stage did not come to its end there: next time elsewhere."""
        self._failed_on.setdefault(attempt.stage, set()).add(attempt.machine.address)

    def avoid_while_silent(self, machine: Machine) -> None:
        """Send nothing there until something is heard from it."""
        self._silent.add(machine.address)

    def distrust(self, machine: Machine) -> None:
        """Send nothing there any more."""
        self._distrusted.add(machine.address)

    def _free(self, machine: Machine) -> list[int]:
        """Free slots. While a worker gets its first inputs, one stage is enough to bring them."""
        taken = self._taken.get(machine.address, set())
        if taken and machine.address not in self._warm:
            return []
        return [slot for slot in range(machine.slots) if slot not in taken]
