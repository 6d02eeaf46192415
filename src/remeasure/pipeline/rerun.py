"""Run a stage's own command again in a scratch folder, if wished for its first steps only.

The scratch folder holds a copy of the source, of the stage's inputs and of params.yaml: what runs
there cannot touch a result, and cannot be touched by an edit in the working tree.
"""

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from remeasure import paths
from remeasure.errors import UserError
from remeasure.params.ablations import ablation_plan
from remeasure.params.reading import section
from remeasure.params.referent import referent_plan
from remeasure.params.seq2seq import seq2seq_plan
from remeasure.pipeline.environment import environment
from remeasure.records.files import read_json

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Family:
    """A group of stages that train: where they write, and how they are made short."""

    folder: str
    shortened: Callable[[Params, str, int], dict[str, Any]]
    """Parameters under which the named entry trains for so many steps at most, all else equal."""
    steps: Callable[[Params, str], int]


@dataclass(frozen=True)
class Rerun:
    """What one run in a scratch folder left; the folder is gone when its block ends."""

    metrics: Path
    curve: Path
    provenance: Path


def _short_ablation(params: Params, name: str, steps: int) -> dict[str, Any]:
    budget = ablation_plan(params, name).budget
    short = budget.model_copy(update={"steps": min(steps, budget.steps)})
    key = section(params, f"ablations.{name}.budget")
    return {
        **params,
        "training": {**params["training"], "fraction": 1.0},
        "budgets": {**params["budgets"], key: short.model_dump(mode="json")},
    }


def _short_referent(params: Params, name: str, steps: int) -> dict[str, Any]:
    budget = referent_plan(params, name).budget
    runs = section(params, "referent.runs")
    short = {**runs[name], "steps": min(steps, budget.steps)}
    shared = budget.model_dump(mode="json", exclude={"steps", "evaluated_at"})
    return {
        **params,
        "training": {**params["training"], "fraction": 1.0},
        "referent": {**params["referent"], "budget": shared, "runs": {**runs, name: short}},
    }


def _short_seq2seq(params: Params, name: str, steps: int) -> dict[str, Any]:
    budget = seq2seq_plan(params, name).budget
    short = budget.model_copy(update={"steps": min(steps, budget.steps)})
    shared = short.model_dump(mode="json", exclude={"learning_rate", "evaluated_at"})
    return {
        **params,
        "training": {**params["training"], "fraction": 1.0},
        "seq2seq": {**params["seq2seq"], "budget": shared},
    }


FAMILIES: Mapping[str, Family] = {
    "ablation": Family(
        "ablations", _short_ablation, lambda params, name: ablation_plan(params, name).budget.steps
    ),
    "referent": Family(
        "referent", _short_referent, lambda params, name: referent_plan(params, name).budget.steps
    ),
    "seq2seq": Family(
        "seq2seq", _short_seq2seq, lambda params, name: seq2seq_plan(params, name).budget.steps
    ),
}
"""By the name of their group in dvc.yaml."""


def family_of(stage: str) -> tuple[Family, str]:
    """The family and the entry of a stage such as `ablation@one_block`."""
    group, _, name = stage.partition("@")
    return FAMILIES[group], name


def shortened(params: Params, stage: str, steps: int) -> dict[str, Any]:
    """Parameters under which a stage trains for so many steps at most, all else equal."""
    family, name = family_of(stage)
    return family.shortened(params, name, steps)


def copy_source(target: Path) -> None:
    """The working tree's stages and package."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("src", "stages"):
        shutil.copytree(folder, target / folder, ignore=ignored)


@contextmanager
def rerun(
    stage: str,
    command: str,
    inputs: tuple[str, ...],
    params: Params,
    threads: int | None,
    put_source: Callable[[Path], None] = copy_source,
    quiet: bool = True,
) -> Iterator[Rerun]:
    """Run the stage's command on `params`, with so many threads (None: as the environment says).

    `put_source` fills the scratch folder with src/ and stages/. What the command prints is shown
    unless `quiet`. Raises UserError if it fails, then with the last line that it printed.
    """
    family, name = family_of(stage)
    with tempfile.TemporaryDirectory(prefix="remeasure-") as made:
        folder = Path(made)
        put_source(folder)
        for path in inputs:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / path)
        with (folder / paths.PARAMS).open("w", encoding="utf-8") as file:
            YAML(typ="safe", pure=True).dump(dict(params), file)
        variables = environment(folder)
        if threads is not None:
            variables["OMP_NUM_THREADS"] = str(threads)
        done = subprocess.run(
            shlex.split(command),
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            lines = (done.stdout or "").strip().splitlines()
            last = lines[-1] if lines else f"exit code {done.returncode}"
            raise UserError(f"its command failed: {last.removeprefix('error: ')}")
        yield Rerun(
            folder / paths.metrics(family.folder, name),
            folder / paths.curve(family.folder, name),
            folder / paths.provenance(family.folder, name),
        )


def recorded_threads(provenance: Mapping[str, Any]) -> int | None:
    """With how many threads a result was measured, if that is on record."""
    threads = provenance.get("threads")
    return threads if isinstance(threads, int) else None


def same_kind(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two provenances tell of a machine of one kind, as many threads, the same versions.

    Only then is the same program bound to give the same bits.
    """
    return _kind(one) == _kind(other) and None not in _kind(one)


def _kind(provenance: Mapping[str, Any]) -> tuple[Any, ...]:
    machine, versions = provenance.get("machine", {}), provenance.get("versions", {})
    device = machine.get("gpu") or machine.get("processor")
    return (
        machine.get("architecture"),
        device,
        json.dumps(machine.get("model")),
        provenance.get("threads"),
        versions.get("torch"),
        versions.get("numpy"),
    )


def read_provenance(stage: str) -> dict[str, Any]:
    """How a stage was measured; empty if that is not on record."""
    family, name = family_of(stage)
    path = paths.provenance(family.folder, name)
    return read_json(path) if path.exists() else {}
