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
from remeasure.params.families import TRAININGS, Family
from remeasure.pipeline.environment import environment
from remeasure.records.files import read_json

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Rerun:
    """What one run in a scratch folder left; the folder is gone when its block ends."""

    metrics: Path
    curve: Path
    provenance: Path


FAMILIES: Mapping[str, Family] = {family.stage: family for family in TRAININGS}
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
