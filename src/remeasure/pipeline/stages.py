"""What DVC knows of the stages: their order, and which of them are stale."""

import contextlib
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import networkx
from dvc.lock import LockError
from dvc.repo import Repo

SECONDS_FOR_LOCK = 60.0


@dataclass(frozen=True)
class Graph:
    """Stage names, each with the names of the stages that must be done before it.

    Stages in `alone` measure time: nothing else may run beside them.
    """

    before: dict[str, frozenset[str]]
    alone: frozenset[str]


def read_graph(targets: list[str]) -> Graph:
    """The stages that `targets` need (all stages if there are none), in DVC's own graph."""
    repo = Repo(".")
    graph = repo.index.graph
    wanted = set(graph.nodes)
    if targets:
        named = [stage for target in targets for stage in repo.stage.collect(target)]
        wanted = set(named).union(*(networkx.descendants(graph, stage) for stage in named))
    before = {
        stage.addressing: frozenset(after.addressing for after in graph.successors(stage))
        for stage in wanted
    }
    alone = {stage.addressing for stage in wanted if (stage.meta or {}).get("runs_alone")}
    return Graph(before, frozenset(alone))


def stale(names: list[str]) -> set[str]:
    """Those of the named stages whose command `dvc repro` would run, as things stand now."""
    quiet = logging.getLogger("dvc")
    level = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        repo = Repo(".")
        with _locked(repo):
            stages: dict[str, Any] = {stage.addressing: stage for stage in repo.index.stages}
            return {name for name in names if stages[name].changed(allow_missing=False)}
    finally:
        quiet.setLevel(level)


@contextlib.contextmanager
def _locked(repo: Any) -> Iterator[None]:
    """DVC's own lock, waited for: a stage that is just being recorded holds it for a moment."""
    deadline = time.monotonic() + SECONDS_FOR_LOCK
    while True:
        try:
            with repo.lock:
                yield
            return
        except LockError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
