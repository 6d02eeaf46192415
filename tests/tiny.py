"""A tiny copy of the project: its own source and stages on a text of a few thousand characters."""

import contextlib
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from remeasure.params.families import TRAININGS
from remeasure.params.reading import read_yaml
from remeasure.pipeline.demo import copy_project, merged
from remeasure.pipeline.environment import environment

ROOT = Path(__file__).parent.parent
STAGES = ("download", "train_bpe", "tokenize", "train", "ablation")
TEXT = "".join(
    f"{who}:\nThe {what} of the {number} kings is {what}er than {who}'s, {number} times.\n\n"
    for number in range(12)
    for who in ("ROMEO", "JULIET", "NURSE")
    for what in ("old", "bold", "light", "dark")
)
BUDGET: dict[str, Any] = {
    "steps": 60,
    "batch_size": 4,
    "learning_rate": 1e-3,
    "warmup_steps": 0,
    "evaluate_every": 30,
    "evaluated_at": [],
    "seeds": [0, 1],
}
PARAMS: dict[str, Any] = {
    "corpus": {"name": "tiny", "sources": ["corpus.txt"]},
    "tokenizer": {"vocab_size": 280},
    "base": {"d_model": 16, "context": 16, "n_heads": 2},
    "model": {"d_model": 16, "context": 16, "n_heads": 2},
    "sample": {"tokens": 10},
}


def write_yaml(path: Path, content: Any) -> None:
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(content, file)


def change_params(folder: Path, **changes: Any) -> None:
    """Merge `changes` into the params.yaml of a copy."""
    write_yaml(folder / "params.yaml", merged(read_yaml(folder / "params.yaml"), changes))


def edit(file: Path, old: str, new: str) -> None:
    """Replace one piece of a file; it must be there once."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file}: {text.count(old)} times {old!r}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def put_corpus(folder: Path, content: bytes) -> None:
    """Make `content` the text of a copy, checksum and all."""
    (folder / "corpus.txt").write_bytes(content)
    change_params(folder, corpus={"sha256": hashlib.sha256(content).hexdigest()})


def make_tiny(folder: Path) -> Path:
    """The copy: the stages in STAGES, two ablations, nothing measured."""
    with contextlib.chdir(ROOT):
        copy_project(folder)
    shutil.rmtree(folder / "report")
    stages = read_yaml(folder / "dvc.yaml")["stages"]
    write_yaml(folder / "dvc.yaml", {"stages": {name: stages[name] for name in STAGES}})
    ablations = {"plain": {"budget": "standard"}, "deep": {"budget": "standard", "n_blocks": 2}}
    params = read_yaml(folder / "params.yaml") | {
        "ablations": ablations,
        "budgets": {"standard": BUDGET, "variant": BUDGET},
        "probes": {},
        "benchmarks": {},
    }
    for training in TRAININGS:
        section, _, runs = training.entries.partition(".")
        if runs:
            params[section][runs] = {}
    write_yaml(folder / "params.yaml", merged(params, PARAMS))
    put_corpus(folder, TEXT.encode())
    return folder


def command(*words: str) -> list[str]:
    """`python -m` and so on, with the Python that runs the tests."""
    return [sys.executable, "-m", *words]


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A module's command in the copy, to its end: `run(folder, "dvc", "repro")`."""
    return subprocess.run(
        command(*words),
        cwd=folder,
        env=environment(folder) | {"OMP_NUM_THREADS": "1"} | variables,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def results(folder: Path) -> dict[str, bytes]:
    """Every result of a copy, by path: what two undisturbed runs give alike."""
    patterns = ("metrics/**/*.json", "plots/**/*.csv", "data/*", "models/*")
    files = [path for pattern in patterns for path in folder.glob(pattern) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}


def provenance(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "provenance/ablations" / name).read_text())
    return content
