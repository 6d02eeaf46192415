"""Workers of Dask, one by one: who is there, how many stages each takes, what they say."""

import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import cloudpickle
from distributed import Client
from distributed.comm.core import CommClosedError

from remeasure.errors import UserError
from remeasure.pipeline.cluster import task
from remeasure.pipeline.cluster.asking import Request
from remeasure.pipeline.cluster.task import TOPIC, Reply

SECONDS_TO_CONNECT = 20
Task = Callable[[Request, Mapping[str, bytes]], Reply]
GPU = "GPU"
"""What workers call the resource: dask worker --resources GPU=1."""


@dataclass(frozen=True)
class Machine:
    """One worker, with a standard executor that runs nowhere else."""

    address: str
    name: str
    slots: int
    """How many stages it takes side by side."""
    gpus: int
    """How many it announces; 0 leaves devices alone."""
    executor: Executor

    def gpu(self, slot: int) -> int | None:
        """The one among its GPUs that a stage in this slot is shown."""
        return slot % self.gpus if self.gpus else None


class Workers(Protocol):
    """Where stages are sent: Dask, or threads of this process."""

    dashboard: str
    """The address of Dask's own pages; empty if there are none."""

    @property
    def task(self) -> Task:
        """What their executors are given to run."""

    @property
    def connected(self) -> bool:
        """Whether they can be reached; if not, all that was sent is lost."""

    def connect(self) -> None:
        """Once more, from scratch. Raises UserError if nobody answers in time."""

    def machines(self) -> list[Machine]:
        """Who can be sent a stage now."""

    def heard(self) -> list[Mapping[str, Any]]:
        """The events since the last call, oldest first."""

    def close(self) -> None:
        """Let go of them; what still runs is cancelled."""


class DaskWorkers:
    """Those of the scheduler at an address. Raises UserError if it does not answer."""

    dashboard = ""

    def __init__(self, address: str, per_gpu: int = 1) -> None:
        cloudpickle.register_pickle_by_value(task)
        self.task: Task = _by_value(task.perform)
        self._address, self._per_gpu = address, per_gpu
        self._events: list[Mapping[str, Any]] = []
        self._machines: dict[str, Machine] = {}
        self._greetings: dict[str, Future[str]] = {}
        self._client: Client | None = None
        self.connect()

    def connect(self) -> None:
        """Once more, from scratch. Raises UserError if nobody answers in time."""
        self.close()
        try:
            self._client = Client(self._address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            last = str(error).splitlines()[0]
            raise UserError(f"--cluster: no scheduler at {self._address}: {last}") from None
        self._client.subscribe_topic(TOPIC, self._hear)
        self.dashboard = str(self._client.dashboard_link)

    @property
    def connected(self) -> bool:
        """Whether the scheduler is there."""
        return self._client is not None and self._client.status == "running"

    def machines(self) -> list[Machine]:
        """Workers that have answered a greeting, as long as the scheduler knows them."""
        if self._client is None or not self.connected:
            return []
        try:
            known = self._client.scheduler_info()["workers"]
        except (OSError, CommClosedError, TimeoutError):
            return []
        for address in self._machines.keys() - known.keys():
            del self._machines[address]
            self._greetings.pop(address).cancel()
        for address, told in known.items():
            if address not in self._machines:
                machine = self._machine(address, told)
                self._machines[address] = machine
                self._greetings[address] = machine.executor.submit(platform.python_version)
        return [each for each in self._machines.values() if self._fits(each)]

    def heard(self) -> list[Mapping[str, Any]]:
        """The events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Leave the scheduler, which then cancels what still runs."""
        self._machines.clear()
        self._greetings.clear()
        if self._client is not None:
            self._client.close(timeout=5)
            self._client = None

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        self._events.append(event[1])

    def _machine(self, address: str, told: Mapping[str, Any]) -> Machine:
        assert self._client is not None
        gpus = int(told["resources"].get(GPU, 0))
        resources = {GPU: 1 / self._per_gpu} if gpus else None
        slots = min(told["nthreads"], gpus * self._per_gpu) if gpus else told["nthreads"]
        executor = self._client.get_executor(
            workers=[address], allow_other_workers=False, pure=False, resources=resources
        )
        return Machine(address, str(told["name"]), slots, gpus, executor)

    def _fits(self, machine: Machine) -> bool:
        """Functions sent by value are this Python's: another minor version could not run them."""
        greeting = self._greetings[machine.address]
        if not greeting.done() or greeting.cancelled() or greeting.exception():
            return False
        return _minor(greeting.result()) == _minor(platform.python_version())


class LocalWorkers:
    """So many threads of this process, each waiting for one stage in a clone of its own."""

    dashboard = ""

    def __init__(self, jobs: int, folder: str) -> None:
        self._events: list[Mapping[str, Any]] = []
        self._closed = False
        self._pool = ThreadPoolExecutor(jobs)
        self._machine = Machine("here", "here", jobs, 0, self._pool)
        self.task: Task = partial(task.perform, folder=folder, tell=self._hear)

    @property
    def connected(self) -> bool:
        """Always."""
        return True

    def connect(self) -> None:
        """Nothing to do."""

    def machines(self) -> list[Machine]:
        """This machine."""
        return [self._machine]

    def heard(self) -> list[Mapping[str, Any]]:
        """The events since the last call, oldest first."""
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Stop what still runs and wait for its end."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def _hear(self, event: dict[str, Any]) -> bool:
        self._events.append(event)
        return not self._closed


def _by_value(function: Task) -> Task:
    """A function that Dask cannot send by its name, so that it takes the whole module along."""
    return lambda request, contents: function(request, contents)


def _minor(python: str) -> tuple[str, ...]:
    return tuple(python.split(".")[:2])
