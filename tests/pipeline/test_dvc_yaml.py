"""The pipeline itself: dvc.yaml says what the code really reads."""

from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo

from remeasure.closure import import_closure
from remeasure.params.reading import read_yaml

ROOT = Path(__file__).parent.parent.parent


def stages() -> dict[str, dict[str, Any]]:
    """The stages as written, foreach families once."""
    written = read_yaml(ROOT / "dvc.yaml")["stages"]
    return {name: stage.get("do", stage) for name, stage in written.items()}


def script(stage: dict[str, Any]) -> Path:
    """The script that a stage runs."""
    return Path(stage["cmd"].split()[1])


def dispatched(name: str, stage: dict[str, Any]) -> list[str]:
    """Modules that a script loads by the name of the entry, from the folder in its `meta`."""
    folder = stage.get("meta", {}).get("loads")
    if folder is None:
        return []
    entries = read_yaml(ROOT / "params.yaml")[name + "s"]
    also = stage["meta"].get("also", [])
    return [*(f"{folder}{entry}.py" for entry in entries), *also]


@pytest.mark.parametrize("name", stages())
def test_dependencies_are_the_import_closure(name: str) -> None:
    stage = stages()[name]
    listed = {dep for dep in stage["deps"] if dep.startswith(("src/", "stages/"))}
    needed = {str(path) for path in import_closure(script(stage), ROOT)}
    for module in dispatched(name, stage):
        needed |= {str(path) for path in import_closure(Path(module), ROOT)}
    missing, extra = sorted(needed - listed), sorted(listed - needed)
    assert not missing, f"add to {name}: " + ", ".join(missing)
    assert not extra, f"remove from {name}: " + ", ".join(extra)


@pytest.mark.parametrize("name", stages())
def test_each_script_is_there_and_keeps_devices_out_of_its_command(name: str) -> None:
    command = stages()[name]["cmd"]
    assert (ROOT / script(stages()[name])).is_file()
    for word in ("cuda", "cpu", "device", "/home", "/work"):
        assert word not in command


def test_dvc_reads_the_pipeline_and_finds_no_cycle() -> None:
    index = Repo(str(ROOT)).index
    names = {stage.addressing for stage in index.stages}
    params = read_yaml(ROOT / "params.yaml")
    assert {f"ablation@{name}" for name in params["ablations"]} <= names
    index.check_graph()


def reached(parameter: str) -> set[str]:
    """Stages that read a parameter, and all that read what they make."""
    index = Repo(str(ROOT)).index
    section = parameter.split(".")[0]
    direct = set()
    for stage in index.stages:
        for dep in stage.deps:
            for read in getattr(dep, "params", None) or []:
                inside = parameter == read or parameter.startswith(f"{read}.")
                if inside or (read.startswith(f"{parameter}.") or read == section):
                    direct.add(stage)
    found = set(direct)
    graph = index.graph
    waiting = list(direct)
    while waiting:
        for user in graph.predecessors(waiting.pop()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return {stage.addressing for stage in found}
