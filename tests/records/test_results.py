from pathlib import Path

import pytest

from remeasure.errors import UserError
from remeasure.params.families import TRAININGS
from remeasure.records.files import write_csv, write_json
from remeasure.records.results import FAMILIES, Results, as_spread, read_results
from remeasure.records.spread import spread


@pytest.fixture
def results(tmp_path: Path) -> Results:
    perplexity = spread({0: 40.0, 1: 42.0})
    record = {
        "held_out": {"perplexity": perplexity},
        "rows": [{"ms": None}, {"ms": 2.5}],
        "flag": True,
    }
    write_json(tmp_path / "metrics/ablations/one.json", record)
    ledger = {"claims": [{"id": "a.b", "printed": 3.5}, {"id": "c", "printed": "words"}]}
    write_json(tmp_path / "metrics/ledger.json", ledger)
    write_csv(tmp_path / "plots/ablations/one.csv", ["seed", "step"], [[0, 1], [0, 2]])
    write_csv(tmp_path / "plots/summary/other.csv", ["run"], [["x"]])
    return read_results(tmp_path)


def test_a_number_over_seeds(results: Results) -> None:
    found = results.ablation("one", "held_out.perplexity")
    assert found is not None
    assert (found.mean, found.n) == (41.0, 2)
    assert results.number("metrics/ablations/one.json#held_out.perplexity") == 41.0


@pytest.mark.parametrize(
    "address",
    [
        "metrics/ablations/two.json#held_out.perplexity",
        "metrics/ablations/one.json#held_out.nothing",
        "metrics/ablations/one.json#held_out.perplexity.mean.deeper",
        "metrics/ablations/one.json#rows.7.ms",
        "metrics/ablations/one.json#rows.0.ms",
        "metrics/ablations/one.json#flag",
    ],
)
def test_what_is_not_there_is_none_and_no_zero(results: Results, address: str) -> None:
    assert results.number(address) is None


def test_entries_of_lists(results: Results) -> None:
    assert results.number("metrics/ablations/one.json#rows.1.ms") == 2.5


def test_printed_numbers_and_words(results: Results) -> None:
    assert results.printed("a.b") == 3.5
    assert results.printed("c") is None
    assert results.printed("unknown") is None


def test_curves_of_stages_are_read_and_summaries_are_not(results: Results) -> None:
    curve = results.curve("ablations", "one")
    assert curve is not None
    assert curve["step"].tolist() == [1, 2]
    assert list(results.curves) == ["plots/ablations/one.csv"]
    assert results.curve("ablations", "two") is None


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics/corpus.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        read_results(tmp_path)


def test_an_empty_tree_has_no_results(tmp_path: Path) -> None:
    assert read_results(tmp_path).records == {}


def test_one_seed_has_no_spread() -> None:
    found = as_spread(spread({0: 2.0}))
    assert found is not None
    assert found.std is None


def test_curves_of_every_family_are_read() -> None:
    assert set(FAMILIES) == {family.folder for family in TRAININGS}
