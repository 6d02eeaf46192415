"""dvc.yaml read without DVC."""

from pathlib import Path
from typing import Any

import pytest

from remeasure.errors import ParameterError
from remeasure.ledger.graph import Stage, downstream, read_stages
from remeasure.params.reading import read_params

ROOT = Path(__file__).parents[2]

PARAMS: dict[str, Any] = {
    "model": {"budget": "standard"},
    "ablations": {"rope": {"budget": "standard"}, "deep": {"budget": "long"}},
}
PIPELINE = """
stages:
  tokenize:
    cmd: python stages/tokenize.py
    deps: [stages/tokenize.py, src/text.py]
    outs: [data/tokens.npz]
  train:
    cmd: python stages/train.py
    deps: [stages/train.py, src/model.py, data/tokens.npz]
    params: [model, "budgets.${model.budget}"]
    outs: [models/model.safetensors]
    metrics:
    - metrics/train/train.json: {cache: false}
  ablation:
    foreach: ${ablations}
    do:
      cmd: python stages/ablation.py ${key}
      deps: [stages/ablation.py, src/model.py, data/tokens.npz]
      params: [base, "ablations.${key}", "budgets.${item.budget}"]
      metrics:
      - metrics/ablations/${key}.json: {cache: false}
      plots:
      - plots/ablations/${key}.csv: {cache: false, x: step}
  ledger:
    cmd: python stages/ledger.py
    deps: [claims.yaml, metrics/ablations]
    outs:
    - metrics/ledger.json: {cache: false}
"""


@pytest.fixture
def stages(tmp_path: Path) -> list[Stage]:
    path = tmp_path / "dvc.yaml"
    path.write_text(PIPELINE, encoding="utf-8")
    return read_stages(PARAMS, path)


def test_a_foreach_is_one_stage_an_entry(stages: list[Stage]) -> None:
    assert [stage.name for stage in stages] == [
        "tokenize",
        "train",
        "ablation@rope",
        "ablation@deep",
        "ledger",
    ]
    assert stages[3].params == {"base", "ablations.deep", "budgets.long"}
    assert stages[3].outs == {"metrics/ablations/deep.json", "plots/ablations/deep.csv"}
    assert stages[1].params == {"model", "budgets.standard"}


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("src/text.py", {"tokenize", "train", "ablation@rope", "ablation@deep", "ledger"}),
        ("src/model.py", {"train", "ablation@rope", "ablation@deep", "ledger"}),
        ("stages/train.py", {"train"}),
        ("metrics/ablations/rope.json", {"ledger"}),
        ("claims.yaml", {"ledger"}),
        ("src", {"tokenize", "train", "ablation@rope", "ablation@deep", "ledger"}),
        ("src/model", set()),
        ("README.md", set()),
        ("params.yaml:ablations.rope", {"ablation@rope", "ledger"}),
        ("params.yaml:ablations.rope.pos", {"ablation@rope", "ledger"}),
        ("params.yaml:ablations", {"ablation@rope", "ablation@deep", "ledger"}),
        ("params.yaml:budgets.long", {"ablation@deep", "ledger"}),
        ("params.yaml:model", {"train"}),
        ("params.yaml", {"train", "ablation@rope", "ablation@deep", "ledger"}),
    ],
)
def test_a_change_runs_down_the_graph(stages: list[Stage], target: str, names: set[str]) -> None:
    assert {stage.name for stage in downstream(stages, target)} == names


def test_stages_come_in_the_order_in_which_they_run(stages: list[Stage]) -> None:
    names = [stage.name for stage in downstream(stages, "src/text.py")]
    assert names[0] == "tokenize"
    assert names[-1] == "ledger"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("${ablations}", "${variants}", "variants"),
        ("${ablations}", "[rope, deep]", "needs a mapping"),
        ("${item.budget}", "${item.length}", "length"),
        ("stages:\n", "steps:\n", "no mapping of stages"),
    ],
)
def test_what_is_not_understood_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "dvc.yaml"
    path.write_text(PIPELINE.replace(old, new), encoding="utf-8")
    with pytest.raises(ParameterError, match=message):
        read_stages(PARAMS, path)


def test_the_projects_own_pipeline_is_understood() -> None:
    params = read_params(ROOT / "params.yaml")
    stages = {stage.name: stage for stage in read_stages(params, ROOT / "dvc.yaml")}
    assert {f"ablation@{name}" for name in params["ablations"]} <= set(stages)
    at_risk = {stage.name for stage in downstream(list(stages.values()), "data/tokens.npz")}
    assert "ablation@one_block" in at_risk
    assert "tokenize" not in at_risk
