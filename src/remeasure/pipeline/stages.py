"""What DVC knows of the stages: their order, which of them are stale, and through what."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import networkx
from dvc.dependency.param import ParamsDependency
from dvc.lock import LockError
from dvc.repo import Repo

from remeasure.errors import UserError

SECONDS_FOR_LOCK = 60.0
CODE = ("src/", "stages/")
"""A dependency below one of these folders is source; any other file is data."""


@dataclass(frozen=True)
class Graph:
    """Stage names, each with the names of the stages that must be done before it.

    Stages in `alone` measure time: nothing else may run beside them.
    """

    before: dict[str, frozenset[str]]
    alone: frozenset[str]


@dataclass(frozen=True)
class Drift:
    """How the working tree departs from what dvc.lock records of one stage.

    `params`, `data`, `code` and `outputs` name what changed and are empty where nothing did: the
    first two in words for people, the others as paths. Of a stage that was never measured only its
    name, command and outputs are told.
    """

    name: str
    command: str
    """As dvc.yaml has it now."""
    command_changed: bool
    measured: bool
    """Whether dvc.lock knows the stage at all."""
    params: tuple[str, ...]
    data: tuple[str, ...]
    code: tuple[str, ...]
    outputs: tuple[str, ...]
    source: tuple[str, ...]
    """All source files that the stage depends on, changed or not."""
    inputs: tuple[str, ...]
    """All other files that it depends on."""

    @property
    def stale(self) -> bool:
        """Whether `dvc repro` would run the stage's command."""
        changed = (self.params, self.data, self.code, self.outputs)
        return self.command_changed or not self.measured or any(changed)


def read_graph(targets: list[str]) -> Graph:
    """The stages that `targets` need (all stages if there are none), in DVC's own graph."""
    with locked_repo() as repo:
        graph, wanted = repo.index.graph, _needed(repo, targets)
        before = {
            stage.addressing: frozenset(after.addressing for after in graph.successors(stage))
            for stage in wanted
        }
        alone = {stage.addressing for stage in wanted if (stage.meta or {}).get("runs_alone")}
    return Graph(before, frozenset(alone))


def load_stages() -> dict[str, Any]:
    """DVC's own stages by name, as things stand now."""
    with _stages() as stages:
        return stages


def stale_among(targets: list[str]) -> set[str]:
    """The same stages, those of them whose command `dvc repro` would run, as things stand now."""
    with locked_repo() as repo:
        needed = _needed(repo, targets)
        return {stage.addressing for stage in needed if stage.changed(allow_missing=False)}


def _needed(repo: Any, targets: list[str]) -> set[Any]:
    """DVC's stages that `targets` name, with all that they need; every stage without targets."""
    graph = repo.index.graph
    if not targets:
        return set(graph.nodes)
    named = [stage for target in targets for stage in repo.stage.collect(target)]
    return set(named).union(*(networkx.descendants(graph, stage) for stage in named))


def stale(names: list[str]) -> set[str]:
    """Those of the named stages whose command `dvc repro` would run, as things stand now."""
    with staleness() as is_stale:
        return {name for name in names if is_stale(name)}


@contextlib.contextmanager
def staleness() -> Iterator[Callable[[str], bool]]:
    """The same question about one stage after the other, with one reading of the pipeline."""
    with _stages() as stages:
        yield lambda name: bool(stages[name].changed(allow_missing=False))


def restore(names: list[str]) -> None:
    """Let DVC bring back what these stages make, which must be in its cache: nothing then runs."""
    with _quiet():
        Repo(".").reproduce(names, single_item=True)


def drifts(groups: tuple[str, ...]) -> dict[str, Drift]:
    """How things stand with every stage of these `foreach` groups, by name."""
    with _stages() as stages:
        return {
            name: _drift(stage) for name, stage in stages.items() if name.split("@")[0] in groups
        }


def outputs() -> dict[str, str]:
    """Every file that a stage writes and dvc.lock knows, with its recorded MD5."""
    with _stages() as stages:
        return {
            str(out): out.hash_info.value
            for stage in stages.values()
            for out in stage.outs
            if out.hash_info
        }


def _drift(stage: Any) -> Drift:
    params: list[str] = []
    data: list[str] = []
    code: list[str] = []
    files: list[str] = []
    measured = all(out.hash_info for out in stage.outs)
    # Reading the parameters takes DVC a while, and of what was never measured nothing can differ.
    for dep in stage.deps if measured else ():
        if isinstance(dep, ParamsDependency):
            params += _changed_values(dep.hash_info.value or {}, dep.read_params())
            continue
        path = str(dep)
        files.append(path)
        for change in dep.status().values():
            if path.startswith(CODE):
                code.append(path)
            else:
                data.append(f"{path} is {change}")
    return Drift(
        name=stage.addressing,
        command=stage.cmd,
        command_changed=stage.cmd_changed,
        measured=measured,
        params=tuple(params),
        data=tuple(data),
        code=tuple(code),
        outputs=tuple(str(out) for out in stage.outs if out.status()),
        source=tuple(path for path in files if path.startswith(CODE)),
        inputs=tuple(path for path in files if not path.startswith(CODE)),
    )


def _changed_values(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    before, after = dict(leaves(recorded)), dict(leaves(now))
    return [
        f"{key} was {before.get(key, 'absent')}, is {after.get(key, 'absent')}"
        for key in {**before, **after}
        if key not in before or key not in after or before[key] != after[key]
    ]


def leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no mapping, with its dotted address; a tuple as a list."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{where}.{key}" if where else str(key))
    else:
        yield where, list(value) if isinstance(value, tuple) else value


@contextlib.contextmanager
def locked_repo() -> Iterator[Any]:
    """DVC's own view of the project, under its lock and without its messages."""
    repo = Repo(".")
    with locked(repo):
        yield repo


@contextlib.contextmanager
def locked(repo: Any) -> Iterator[None]:
    """DVC's own lock, waited for, and none of its messages."""
    with _quiet(), _lock_of(repo):
        yield


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """In the block, DVC tells errors only."""
    logger = logging.getLogger("dvc")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _stages() -> Iterator[dict[str, Any]]:
    """DVC's own stages by name, under its lock."""
    with locked_repo() as repo:
        yield {stage.addressing: stage for stage in repo.index.stages}


@contextlib.contextmanager
def _lock_of(repo: Any) -> Iterator[None]:
    """Waited for: a stage that is just being recorded holds it for a moment."""
    deadline = time.monotonic() + SECONDS_FOR_LOCK
    while True:
        try:
            repo.lock.lock()
            break
        except LockError as error:
            if time.monotonic() > deadline:
                raise UserError(f"another DVC works here; wait for its end ({error})") from None
            time.sleep(0.2)
    try:
        yield
    except LockError as error:
        # A stage has locks of its own while it runs; what follows "busy" is advice for experts.
        busy = str(error).partition(", ")[0]
        raise UserError(f"another DVC runs a stage here; wait for its end ({busy})") from None
    finally:
        repo.lock.unlock()
