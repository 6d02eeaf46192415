"""The pipeline as dvc.yaml describes it: its stages, what each reads and what it writes.

Only what this project's dvc.yaml uses is understood: plain stages, `foreach` over a mapping, and
`${...}` addresses. DVC itself is not asked: importing it takes longer than all of the ledger.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remeasure import paths
from remeasure.errors import ParameterError
from remeasure.params.reading import read_yaml, section

TEMPLATE = re.compile(r"\$\{([^}]+)\}")


@dataclass(frozen=True)
class Stage:
    """One stage, `ablation@rope` for an entry of a `foreach`. Paths and addresses as written."""

    name: str
    deps: frozenset[str]
    params: frozenset[str]
    outs: frozenset[str]

    def reads(self, target: str) -> bool:
        """Whether a change of `target` changes what goes in: a file, or `params.yaml:a.b`."""
        file, _, key = target.partition(":")
        if file == str(paths.PARAMS):
            return any(_overlap(key, param, ".") for param in self.params)
        return any(_overlap(file, dep, "/") for dep in self.deps)


def read_stages(params: Mapping[str, Any], pipeline: Path = paths.PIPELINE) -> list[Stage]:
    """Every stage in the order of dvc.yaml. Raises ParameterError for what is not understood."""
    content = read_yaml(pipeline)
    stages = content.get("stages") if isinstance(content, Mapping) else None
    if not isinstance(stages, Mapping):
        raise ParameterError(f"{pipeline}: has no mapping of stages")
    return [stage for name, entry in stages.items() for stage in _expand(name, entry, params)]


def downstream(stages: Iterable[Stage], target: str) -> list[Stage]:
    """The stages that a change of `target` makes stale, directly or through what they write."""
    waiting, stale = list(stages), []
    changed = {target}
    while found := [stage for stage in waiting if any(map(stage.reads, changed))]:
        stale += found
        waiting = [stage for stage in waiting if stage not in found]
        changed = {out for stage in found for out in stage.outs}
    return stale


def _expand(name: str, entry: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[Stage]:
    if "foreach" not in entry:
        yield _stage(name, entry, params)
        return
    over = TEMPLATE.fullmatch(str(entry["foreach"]))
    entries = section(params, over[1]) if over else None
    if not isinstance(entries, Mapping):
        raise ParameterError(f"{paths.PIPELINE}: {name}: foreach needs a mapping of params.yaml")
    for key, item in entries.items():
        yield _stage(f"{name}@{key}", entry["do"], {**params, "key": key, "item": item})


def _stage(name: str, entry: Mapping[str, Any], context: Mapping[str, Any]) -> Stage:
    def value(found: re.Match[str]) -> str:
        return str(section(context, found[1].strip()))

    def listed(*kinds: str) -> frozenset[str]:
        lines = [line for kind in kinds for line in entry.get(kind, [])]
        # An output with options is a mapping with the path as its only key.
        plain = [next(iter(line)) if isinstance(line, Mapping) else line for line in lines]
        return frozenset(TEMPLATE.sub(value, text) for text in plain)

    return Stage(name, listed("deps"), listed("params"), listed("outs", "metrics", "plots"))


def _overlap(one: str, other: str, separator: str) -> bool:
    """Whether one is the other, or lies inside it; nothing at all overlaps with everything."""
    shorter, longer = sorted((one, other), key=len)
    return not shorter or f"{longer}{separator}".startswith(f"{shorter}{separator}")
