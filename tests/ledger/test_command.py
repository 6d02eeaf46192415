"""`python -m remeasure.ledger` and the stage of the same name."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from stages.ledger import main as stage_main

from remeasure.commands import run_command
from remeasure.ledger.__main__ import main

ROOT = Path(__file__).parents[2]
Write = Callable[[Mapping[str, Any]], Path]
ONE_BLOCK = "metrics/ablations/one_block.json"
AS_SOMEBODY = ["-c", "user.name=n", "-c", "user.email=e"]
PIPELINE = """
stages:
  ablation:
    foreach: ${ablations}
    do:
      deps: [src/model.py]
      params: ["ablations.${key}"]
      metrics:
      - metrics/ablations/${key}.json: {cache: false}
"""


@pytest.fixture
def tree(records: dict[str, dict[str, Any]], entries: dict[str, Any], write: Write) -> Path:
    """A working tree with claims.yaml, every record, and a params.yaml that has every entry."""
    root = write({**records, "claims.yaml": (ROOT / "claims.yaml").read_text(encoding="utf-8")})
    YAML(typ="safe", pure=True).dump(entries, root / "params.yaml")
    return root


class Command:
    """`python -m remeasure.ledger` in this process; `run` returns its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch
        self.out = self.err = ""

    def run(self, *words: str) -> int:
        self._monkeypatch.setattr(sys, "argv", ["ledger", *words])
        code: Any = 0
        try:
            run_command(main)
        except SystemExit as end:
            code = end.code
        self.out, self.err = self._capsys.readouterr()
        return int(code)


@pytest.fixture
def ledger(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    monkeypatch.chdir(tree)
    return Command(capsys, monkeypatch)


def spoil(root: Path, file: str, key: str) -> None:
    """Replace the numbers of one spread in a record by far larger ones."""
    record = json.loads((root / file).read_text(encoding="utf-8"))
    record[key]["perplexity"]["per_seed"] = {"0": 900.0, "1": 901.0, "2": 902.0}
    (root / file).write_text(json.dumps(record), encoding="utf-8")


def test_strict_fails_only_if_something_is_contradicted(tree: Path, ledger: Command) -> None:
    assert ledger.run("--strict") == 0
    spoil(tree, ONE_BLOCK, "training")
    assert ledger.run("--strict") == 1
    assert ledger.err == "error: --strict: contradicted claims: 1\n"
    assert ledger.run() == 0
    assert ledger.run("--strict", "--section", "average") == 0
    assert ledger.run("--strict", "--verdict", "close") == 1


def test_filters_by_section_and_verdict(tree: Path, ledger: Command) -> None:
    (tree / "metrics/ablations/two_blocks.json").unlink()
    assert ledger.run("--section", "ladder", "--verdict", "not measured") == 0
    found = ledger.out
    assert "two_blocks.val_ppl" in found
    assert "one_block.val_ppl" not in found
    assert "corpus" not in found
    assert found.splitlines()[-1].endswith("3 not measured")
    assert ledger.run("--section", "ladder", "--verdict", "not_measured") == 0
    assert ledger.out == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--section", "lader"], "'lader' is not one of corpus, average"),
        (["--verdict", "plausible"], "invalid choice: 'plausible'"),
        (["affected"], "file"),
        (["affected", "no/such.py"], "no/such.py: no such file"),
        (["diff", "HEAD"], "HEAD:metrics/ledger.json cannot be read"),
    ],
)
def test_a_slip_on_the_command_line_is_named(
    tree: Path, ledger: Command, words: list[str], message: str
) -> None:
    (tree / "dvc.yaml").write_text("stages: {}\n", encoding="utf-8")
    assert ledger.run(*words) in (1, 2)
    assert message in ledger.err


def test_affected_reads_the_pipeline(tree: Path, entries: dict[str, Any], ledger: Command) -> None:
    trained = len(entries["ablations"])
    (tree / "dvc.yaml").write_text(PIPELINE, encoding="utf-8")
    assert ledger.run("affected", "src/model.py") == 0
    assert ledger.out.startswith(f"src/model.py: stages {trained}, claims 35\n")
    assert "ablation@one_block " in ledger.out
    assert ledger.run("affected", "params.yaml:ablations.leak") == 0
    assert ledger.out.startswith("params.yaml:ablations.leak: stages 1, claims 1\n")


def test_diff_compares_with_a_commit(tree: Path, ledger: Command) -> None:
    stage_main([])
    for words in (["init", "-q"], ["add", "."], [*AS_SOMEBODY, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], check=True)
    assert ledger.run("diff", "HEAD") == 0
    assert ledger.out == "no verdict differs from HEAD\n"
    spoil(tree, ONE_BLOCK, "training")
    stage_main([])
    assert ledger.run("diff", "HEAD") == 0
    assert "ladder.one_block.train_ppl" in ledger.out
    assert "contradicted" in ledger.out


def test_the_stage_writes_the_same_bytes_twice_and_no_times(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)

    def written() -> list[bytes]:
        stage_main([])
        return [Path(f"metrics/{name}.json").read_bytes() for name in ("ledger", "summary")]

    first = written()
    provenance = Path("provenance/ablations/one_block.json")
    provenance.parent.mkdir(parents=True)
    provenance.write_text('{"wall_seconds": 5}', encoding="utf-8")
    assert written() == first
    ledger, summary = map(json.loads, first)
    assert summary["verdicts"]["reproduced"] == len(ledger["claims"])


@pytest.mark.parametrize("module", ["remeasure.ledger.__main__", "stages.ledger"])
def test_torch_dvc_and_scipy_stats_are_not_loaded(module: str) -> None:
    heavy = ("torch", "dvc", "scipy.stats", "pandas", "matplotlib")
    code = f"import {module}, sys; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
