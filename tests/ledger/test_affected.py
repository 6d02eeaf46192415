"""What a change puts at risk, and what it costs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from remeasure.errors import UserError
from remeasure.ledger.affected import affected, relative_to_root
from remeasure.ledger.claims import Claims
from remeasure.ledger.costs import minutes_per_seed, seconds, to_settle
from remeasure.ledger.graph import Stage
from remeasure.records.spread import spread

Write = Callable[[Mapping[str, Any]], Path]


def stage(name: str, deps: set[str], outs: set[str]) -> Stage:
    return Stage(name, frozenset(deps), frozenset(), frozenset(outs))


STAGES = [
    stage("ablation@one_block", {"src/model.py"}, {"metrics/ablations/one_block.json"}),
    stage("ablation@two_blocks", {"src/model.py"}, {"metrics/ablations/two_blocks.json"}),
    stage("probe@averaging", {"src/averaging.py"}, {"metrics/probes/averaging.json"}),
    stage("ledger", {"metrics/ablations", "metrics/probes"}, {"metrics/ledger.json"}),
]


def test_stages_claims_and_costs_of_a_change(claims: Claims, write: Write) -> None:
    root = write({"provenance/ablations/one_block.json": {"wall_seconds": 900.0}})
    found = affected("src/model.py", STAGES, claims, root)
    assert set(found.stages) == {"ablation@one_block", "ablation@two_blocks", "ledger"}
    assert "ladder.overfitting" in found.claims
    assert "scaling.ablation.d32" in found.claims
    assert not any(name.startswith("average.") for name in found.claims)
    assert found.seconds == {"ablation@one_block": 900.0}


def test_a_record_puts_its_own_claims_at_risk(claims: Claims, tmp_path: Path) -> None:
    found = affected("metrics/probes/averaging.json", STAGES, claims, tmp_path)
    assert found.stages == ("ledger",)
    assert "average.matrix_rows" in found.claims
    assert "ladder.overfitting" not in found.claims


def test_a_file_that_nothing_reads_affects_nothing(claims: Claims, write: Write) -> None:
    root = write({"README.md": "text"})
    found = affected("README.md", STAGES, claims, root)
    assert (found.stages, found.claims) == ((), ())


def test_a_file_that_is_not_there_is_refused(claims: Claims, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"src/modle.py: no such file"):
        affected("src/modle.py", STAGES, claims, tmp_path)


def test_paths_are_taken_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for word in ("src/model.py", "./src/model.py", f"{tmp_path}/src/../src/model.py"):
        assert relative_to_root(word) == "src/model.py"
    assert relative_to_root("params.yaml:base") == "params.yaml:base"
    with pytest.raises(UserError, match="outside the working tree"):
        relative_to_root("../elsewhere.py")


ROW = {
    "verdict": "underpowered",
    "more_seeds": 4,
    "stages": ["ablation@one_block", "ablation@two_blocks"],
    "measured": spread({0: 1.0, 1: 2.0}),
}
TIMES = {
    "provenance/ablations/one_block.json": {"wall_seconds": 600.0},
    "provenance/ablations/two_blocks.json": {"wall_seconds": 1200.0},
}


def test_more_seeds_cost_what_the_first_ones_took(write: Write) -> None:
    root = write(TIMES)
    assert seconds("ablation@two_blocks", root) == 1200
    # 30 minutes for two seeds of both stages: 15 for one.
    assert minutes_per_seed(ROW, root) == 15
    assert to_settle(ROW, root) == "4 more seeds would probably tell, about 60 min"
    assert (
        to_settle(ROW | {"more_seeds": 1}, root) == "1 more seed would probably tell, about 15 min"
    )


def test_seeds_of_an_order_are_counted_pair_by_pair(write: Write) -> None:
    pair = {"smaller": spread({0: 1.0}), "larger": spread({0: 2.0})}
    assert minutes_per_seed(ROW | {"measured": {"pairs": [pair]}}, write(TIMES)) == 30


@pytest.mark.parametrize("record", [{}, {"wall_seconds": None}, "{damaged"])
def test_a_time_that_is_not_on_record_is_unknown(write: Write, record: Any) -> None:
    root = write(TIMES | {"provenance/ablations/two_blocks.json": record})
    assert to_settle(ROW, root) == "4 more seeds would probably tell, at an unknown cost"


def test_what_no_number_of_seeds_settles_is_said(tmp_path: Path) -> None:
    assert to_settle(ROW | {"more_seeds": None}, tmp_path) == "100 seeds like these would not tell"
    assert to_settle(ROW | {"verdict": "close"}, tmp_path) is None
