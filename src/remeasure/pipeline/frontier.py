"""Which stages may run now: those that are stale and need nothing that is still to be made."""

import math
from collections.abc import Iterable

from remeasure.ledger import costs
from remeasure.pipeline.stages import Graph, staleness

LONG_SECONDS = 60.0
"""A stage that is expected to take longer is started by itself."""
SHARES = 3
"""One `dvc repro` takes at most this part of what is ready, divided by the jobs."""


class Frontier:
    """Moves stages from `waiting` to `ready` as others get done.

    Of those that are ready the longest come first, before them those of which nothing is known.
    """

    def __init__(self, graph: Graph) -> None:
        self._before = graph.before
        self.waiting = set(graph.before)
        self.ready: list[str] = []
        self.done: set[str] = set()
        recorded = {name: costs.seconds(name) for name in graph.before}
        self._known = {name: seconds for name, seconds in recorded.items() if seconds is not None}
        """Seconds that a stage took, in this run or else the last time."""
        self._took: list[float] = []

    def release(self) -> None:
        """Make every waiting stage ready whose predecessors are done; pass over the fresh ones."""
        if self._free():
            with staleness() as is_stale:
                while free := self._free():
                    self.waiting -= free
                    to_run = {name for name in free if is_stale(name)}
                    self.done |= free - to_run
                    self.ready += to_run
        self._sort()

    def expected(self, name: str) -> float | None:
        """Seconds that the stage took the last time, else the most that one of its group took.

        None while nothing of the kind is known.
        """
        if name in self._known:
            return self._known[name]
        group = name.partition("@")[0]
        alike = [took for other, took in self._known.items() if other.partition("@")[0] == group]
        return max(alike, default=None)

    def share(self, candidates: list[str], jobs: int) -> list[str]:
        """What one `dvc repro` of several side by side takes of these, in their order.

        Several if they are short, since starting DVC takes seconds; one if it is long or may be.
        """
        expected = self.expected(candidates[0]) if candidates else None
        if expected is None or expected >= LONG_SECONDS:
            return candidates[:1]
        return candidates[: -(-len(candidates) // (SHARES * jobs))]

    def _sort(self) -> None:
        seconds = {name: self.expected(name) for name in self.ready}
        known = {name: math.inf if took is None else took for name, took in seconds.items()}
        self.ready.sort(key=lambda name: (-known[name], name))

    def _free(self) -> set[str]:
        return {name for name in self.waiting if self._before[name] <= self.done}

    def take(self, names: Iterable[str]) -> None:
        """These are started."""
        started = set(names)
        self.ready = [name for name in self.ready if name not in started]

    def put_back(self, name: str) -> None:
        """This one is to be started again, before all others."""
        self.ready.insert(0, name)

    def finish(self, names: Iterable[str], seconds: float) -> None:
        """These are done; each took so long."""
        finished = dict.fromkeys(names, seconds)
        self.done |= set(finished)
        self._known |= finished
        self._took += finished.values()

    def seconds_to_come(self) -> float | None:
        """Of all that is not started yet, one after the other; None while nothing is known.

        A stage of whose group nothing is known is taken to last as long as those that ended here.
        """
        to_come = [self.expected(name) for name in (*self.ready, *self.waiting)]
        known = [seconds for seconds in to_come if seconds is not None]
        unknown = len(to_come) - len(known)
        if unknown and not self._took:
            return None
        typical = sum(self._took) / len(self._took) if self._took else 0.0
        return sum(known) + unknown * typical
