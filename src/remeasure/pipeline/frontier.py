"""Which stages may run now: those that are stale and need nothing that is still to be made."""

from collections.abc import Iterable

from remeasure.ledger import costs
from remeasure.pipeline.stages import Graph, staleness


class Frontier:
    """Moves stages from `waiting` to `ready` (the longest first) as others get done."""

    def __init__(self, graph: Graph) -> None:
        self._before = graph.before
        self.waiting = set(graph.before)
        self.ready: list[str] = []
        self.done: set[str] = set()
        self.recorded = {name: costs.seconds(name) or 0.0 for name in graph.before}
        """Seconds that each took the last time; 0 where that is not on record."""
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
        self.ready.sort(key=lambda name: (-self.recorded[name], name))

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
        finished = list(names)
        self.done |= set(finished)
        self._took += [seconds] * len(finished)

    def seconds_to_come(self) -> float | None:
        """Of all that is not started yet, one after the other; None while nothing is known.

        A stage that never ran is taken to last as long as those that ended in this run.
        """
        to_come = [self.recorded[name] for name in (*self.ready, *self.waiting)]
        unknown = to_come.count(0.0)
        if unknown and not self._took:
            return None
        typical = sum(self._took) / len(self._took) if self._took else 0.0
        return sum(to_come) + unknown * typical
