import json
import math

import pytest
import torch

from remeasure.params.seq2seq import seq2seq_plan
from remeasure.seq2seq.architectures import ARCHITECTURES
from remeasure.seq2seq.experiment import (
    CURVE_COLUMNS,
    asked_sources,
    half_right_length,
    train_and_ask,
)
from remeasure.seq2seq.guessing import guessed_accuracy


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_record_has_every_number_over_the_seeds(small_params, architecture):
    trained = train_and_ask(seq2seq_plan(small_params, f"sort_{architecture}"), "test")
    record = trained.record
    assert list(record["by_length"]) == ["2", "4", "6"]
    for found in record["by_length"].values():
        for value in found.values():
            assert set(value["per_seed"]) == {"3", "5"}
    assert record["half_right_length"]["n"] == 2
    assert record["trained_lengths"] == [2, 4]
    assert record["guessing"]["loss"] == math.log(26)
    assert record["guessing"]["token"]["6"] == guessed_accuracy("sort", 6, 26)
    if architecture == "lstm":
        assert record["attention"] is None
    else:
        attention = record["attention"]
        assert attention["sharpest_head_on_answer"]["n"] == 2
        assert attention["example"]["seed"] == 3
        assert len(attention["example"]["source"]) == attention["length"] == 3
    assert [row[:2] for row in trained.curve] == [
        [seed, step] for seed in (3, 5) for step in range(5)
    ]
    assert all(len(row) == len(CURVE_COLUMNS) for row in trained.curve)
    assert len(json.dumps(record)) < 10_000


def test_two_runs_give_the_same_bytes(small_params):
    first, second = (
        train_and_ask(seq2seq_plan(small_params, "sort_bahdanau"), "test") for _ in range(2)
    )
    assert json.dumps(first.record) == json.dumps(second.record)
    assert first.curve == second.curve


def test_each_seed_starts_from_weights_of_its_own(small_params):
    small_params["seq2seq"]["architectures"]["bahdanau"]["learning_rate"] = 1e-30
    record = train_and_ask(seq2seq_plan(small_params, "sort_bahdanau"), "test").record
    weights = record["attention"]["sharpest_head_on_answer"]["per_seed"]
    assert weights["3"] != weights["5"]


def test_strings_asked_after_are_the_same_for_all_and_follow_their_seed(small_params):
    strings = seq2seq_plan(small_params, "sort_lstm").strings
    one, same = asked_sources(strings), asked_sources(strings)
    other = asked_sources(strings.model_copy(update={"seed": 1}))
    assert list(one) == [2, 3, 4, 6]
    for length, source_BS in one.items():
        assert source_BS.shape == (7, length)
        assert torch.equal(source_BS, same[length])
        assert not torch.equal(source_BS, other[length])


@pytest.mark.parametrize(
    ("shares", "length"),
    [({4: 1.0, 8: 0.5, 16: 0.49}, 8), ({4: 0.2, 8: 0.6}, 8), ({4: 0.4}, 0), ({4: 1.0}, 4)],
)
def test_half_right_is_the_longest_length_with_half(shares, length):
    assert half_right_length({n: {"sequence": share} for n, share in shares.items()}) == length
