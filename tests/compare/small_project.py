"""A small project in git and DVC whose stage `train` makes its numbers up from its parameters."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from remeasure.pipeline.environment import environment

ROOT = Path(__file__).parent.parent.parent

PIPELINE = """
stages:
  train:
    cmd: python train.py
    deps: [train.py]
    params: [model, budgets]
    outs:
    - models/sample.txt
    metrics:
    - metrics/train/train.json: {cache: false}
    plots:
    - plots/train/train.csv: {cache: false}
"""
TRAIN = """
import json, pathlib, statistics
from ruamel.yaml import YAML
params = YAML(typ="safe").load(pathlib.Path("params.yaml"))
seeds = params["budgets"]["variant"]["seeds"]
base = {"learned": 40.0, "rope": 36.0, "none": 50.0, "alibi": 38.0}[params["model"]["pos"]]
def spread(values):
    std = statistics.stdev(values) if len(values) > 1 else None
    per_seed = {str(seed): value for seed, value in zip(seeds, values)}
    return {"mean": statistics.fmean(values), "std": std, "n": len(values), "per_seed": per_seed}
record = {
    "protocol": {"settings": None, "corpus": "c" * 64, "fraction": 1.0},
    "parameters": 1000,
    "held_out": {
        "perplexity": spread([base + seed + 0.1 * (seed % 2) * (base - 40) for seed in seeds]),
        "bits_per_byte": spread([base / 20 + 0.01 * seed for seed in seeds]),
    },
    "training": {"perplexity": spread([base - 5 for seed in seeds])},
}
for name, text in {
    "metrics/train/train.json": json.dumps(record),
    "plots/train/train.csv": "seed,step,held_out_loss\\n" + "".join(
        f"{seed},{step},{7 - step / base}\\n" for seed in seeds for step in range(0, 120, 10)
    ),
    "models/sample.txt": f"<b>{params['model']['pos']}</b> & more\\n",
}.items():
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
"""
CORPUS = {
    "vocab_size": 1024,
    "tokens": 100,
    "held_out_tokens": 10,
    "held_out_bytes": 30,
}


class Project:
    """A working tree and what one does in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *words: str) -> str:
        """A command's standard output."""
        done = subprocess.run(
            words,
            cwd=self.root,
            env=environment(ROOT),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def git(self, *words: str) -> str:
        """Git's standard output."""
        return self.run("git", *words)

    def dvc(self, *words: str) -> str:
        """DVC's standard output."""
        return self.run(sys.executable, "-m", "dvc", *words)

    def train(self) -> None:
        """The stage's command alone, which is faster; the sample stays that of DVC."""
        self.run(sys.executable, "train.py")

    def write(self, name: str, content: dict[str, Any]) -> None:
        """A JSON file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")

    def read(self, name: str) -> dict[str, Any]:
        """A JSON file."""
        content: dict[str, Any] = json.loads((self.root / name).read_text(encoding="utf-8"))
        return content

    def change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        """Edit params.yaml."""
        yaml = YAML(typ="safe")
        content = yaml.load(self.root / "params.yaml")
        edit(content)
        yaml.dump(content, self.root / "params.yaml")

    def commit(self, message: str) -> str:
        """Commit all; the new commit."""
        self.git("add", ".")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD").strip()
