"""The pipeline itself: dvc.yaml says what the code really reads."""

import re
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo

from remeasure.closure import import_closure
from remeasure.params.families import TRAININGS
from remeasure.params.reading import read_yaml, section

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
    for training in TRAININGS:
        entries = section(params, training.entries)
        assert {f"{training.stage}@{name}" for name in entries} <= names
    index.check_graph()


@pytest.fixture(scope="module")
def index() -> Any:
    """All stages as DVC sees them."""
    return Repo(str(ROOT)).index


def reached(index: Any, parameter: str) -> set[str]:
    """Stages that read a parameter, and all that read what they make."""
    waiting = [stage for stage in index.stages if reads(stage, parameter)]
    found = set(waiting)
    while waiting:
        users = set(index.graph.predecessors(waiting.pop())) - found
        found |= users
        waiting += users
    return {stage.addressing for stage in found}


def reads(stage: Any, parameter: str) -> bool:
    """Whether one of the addresses that a stage declares holds the parameter."""
    addresses = [address for dep in stage.deps for address in getattr(dep, "params", None) or []]
    return any(f"{parameter}.".startswith(f"{address}.") for address in addresses)


def family(index: Any, name: str) -> set[str]:
    """All stages of a foreach family."""
    return {s.addressing for s in index.stages if s.addressing.startswith(f"{name}@")}


@pytest.mark.parametrize(
    ("parameter", "stages_reached"),
    [
        ("model.pos", {"train", "report"}),
        ("sample.prompt", {"train", "report"}),
        ("budgets.variant.steps", {"train", "report"}),
        ("ablations.leak.causal", {"ablation@leak", "ledger", "report"}),
        ("probes.averaging.seed", {"probe@averaging", "ledger", "report"}),
        ("benchmarks.kv_cache.tokens", {"benchmark@kv_cache", "ledger", "report"}),
        ("referent.runs.pool_uniform.steps", {"referent@pool_uniform", "ledger", "report"}),
        ("recurrent.runs.rnn.d_hidden", {"recurrent@rnn", "sequence_cost", "ledger", "report"}),
        ("recurrent.sequence_cost.repeats", {"sequence_cost", "ledger", "report"}),
        ("masked.runs.any_share.share", {"masked@any_share", "ledger", "report"}),
        ("normalisation.runs.rms.kind", {"normalisation@rms", "ledger", "report"}),
        (
            "scaled_embedding.runs.tied.tie_embeddings",
            {"scaled_embedding@tied", "ledger", "report"},
        ),
        ("induction.runs.two_layers.n_blocks", {"induction@two_layers", "ledger", "report"}),
        ("seq2seq.runs.sort_lstm.task", {"seq2seq@sort_lstm", "ledger", "report"}),
        ("training.device", set()),
    ],
)
def test_a_parameter_reaches_these_stages_and_no_other(
    index: Any, parameter: str, stages_reached: set[str]
) -> None:
    assert reached(index, parameter) == stages_reached


def test_what_is_shared_reaches_all_that_share_it(index: Any) -> None:
    ends = {"ledger", "report"}
    families = {training.stage: family(index, training.stage) for training in TRAININGS}
    trained = set().union(*families.values())
    untrained = family(index, "probe") | {"sequence_cost"}
    # The decoder alone has a description of its own; the others of that family are not blocks.
    described = trained - families["seq2seq"]
    assert reached(index, "base.d_model") == described | untrained | ends
    assert reached(index, "training.fraction") == trained | {"train"} | ends
    made_up = families["referent"] | families["seq2seq"] | families["induction"]
    text = (trained - made_up) | family(index, "probe") | {"train"} | ends
    assert reached(index, "split.held_out") == text | {"tokenize"}
    assert reached(index, "tokenizer.vocab_size") == text | {"tokenize", "train_bpe"}
    assert reached(index, "corpus.sha256") == text | {"tokenize", "train_bpe", "download"}
    deep = {f"ablation@{name}" for name in ("norm_pre", "norm_post")}
    assert reached(index, "budgets.deep.steps") == deep | ends


def test_the_report_declares_the_sections_that_it_shows() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src/remeasure/reporting").rglob("*.py")
    )
    shown = set(re.findall(r"""report\.params(?:\[|, )["'](\w+)""", source))
    assert shown == {address.split(".")[0] for address in stages()["report"]["params"]}
