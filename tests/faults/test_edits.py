"""Source, parameters or data edited while a stage trains: what comes out is used by nobody."""

import subprocess
import time
from pathlib import Path

import pytest
import tiny

from remeasure.pipeline.environment import environment
from remeasure.progress import PROGRESS_FILE

pytestmark = [pytest.mark.faults, pytest.mark.slow]

TARGET = "ablation@plain"


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("src/remeasure/ops/attention.py", "{folder}/src/remeasure/ops/attention.py"),
        ("params.yaml", "params.yaml: budgets.standard"),
        ("data/tokens.npz", "data/tokens.npz"),
    ],
)
def test_an_edit_while_it_trains_fails_the_stage(tmp_path: Path, file: str, named: str) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    assert tiny.run(folder, "dvc", "repro", "tokenize").returncode == 0
    tiny.change_params(folder, budgets={"standard": {"steps": 400}})
    before = (folder / file).read_bytes()
    progress = tmp_path / "progress.json"
    running = subprocess.Popen(
        tiny.command("dvc", "repro", TARGET),
        cwd=folder,
        env=environment(folder) | {"OMP_NUM_THREADS": "1", PROGRESS_FILE: str(progress)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not progress.exists():
        assert running.poll() is None
        time.sleep(0.02)
    if file == "params.yaml":
        tiny.change_params(folder, budgets={"standard": {"batch_size": 5}})
    else:
        (folder / file).write_bytes(before + b"\n")
    _, said = running.communicate(timeout=120)
    assert running.returncode != 0
    assert f"changed while this stage ran: {named.format(folder=folder)}" in said
    assert not (folder / "provenance/ablations/plain.json").exists()
    assert not (folder / "metrics/ablations/plain.json").exists()
    (folder / file).write_bytes(before)
    assert tiny.run(folder, "dvc", "repro", TARGET).returncode == 0
    assert (folder / "metrics/ablations/plain.json").exists()
