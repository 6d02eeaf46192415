"""The two scripts in a folder of their own: what they write and what they refuse."""

import csv
import json
import runpy
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from remeasure import paths
from remeasure.data.tokens import save_tokens
from remeasure.errors import ParameterError, UserError

STAGES = Path(__file__).parents[2] / "stages"


def main(script):
    return runpy.run_path(str(STAGES / script))["main"]


@pytest.fixture
def folder(tmp_path, monkeypatch, small_params, small_tokens):
    monkeypatch.chdir(tmp_path)
    with paths.PARAMS.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(small_params, file)
    save_tokens(paths.TOKENS, small_tokens)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_run_leaves_its_record_and_two_tables():
    main("recurrent.py")(["lstm"])
    record = json.loads(Path("metrics/recurrent/lstm.json").read_text())
    assert record["held_out"]["perplexity"]["n"] == 2
    with Path("plots/recurrent/lstm.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 2 * 7
    with Path("plots/recurrent/lstm_gradient.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 12
    assert set(rows[0]) == {"seed", "when", "distance", "low", "median", "high"}
    assert Path("provenance/recurrent/lstm.json").is_file()
    assert not list(paths.CHECKPOINTS.iterdir())


@pytest.mark.usefixtures("folder")
def test_the_times_are_one_record():
    main("sequence_cost.py")([])
    record = json.loads(Path("metrics/sequence_cost/sequence_cost.json").read_text())
    assert set(record["exponents"]) == {"rnn", "lstm", "attention"}
    assert Path("provenance/sequence_cost/sequence_cost.json").is_file()


@pytest.mark.usefixtures("folder")
def test_what_is_not_there_is_refused_and_nothing_is_written():
    with pytest.raises(ParameterError, match=r"recurrent\.runs: has no key 'gru'"):
        main("recurrent.py")(["gru"])
    with pytest.raises(UserError, match="usage"):
        main("sequence_cost.py")(["rnn"])
    assert not Path("metrics").exists()
