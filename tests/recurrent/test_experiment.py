"""The record of a recurrent stage: what stands in it, over seeds, reproducibly."""

import json
import math

import pytest
import torch

from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.experiments.language import train_and_measure
from remeasure.params.ablations import ablation_plan
from remeasure.params.recurrent import recurrent_plan
from remeasure.recurrent import experiment
from remeasure.recurrent.experiment import CURVE_COLUMNS, GRADIENT_COLUMNS, train_and_trace
from remeasure.recurrent.gradient import reach
from remeasure.recurrent.models import build_model
from remeasure.training.loop import train
from remeasure.training.seeds import global_seed

RUNS = ("rnn", "lstm", "attention")


def trained(params, name, tokens, checkpoints=None):
    return train_and_trace(recurrent_plan(params, name), tokens, "test", checkpoints)


@pytest.mark.parametrize("name", RUNS)
def test_every_number_carries_its_seeds(name, small_params, small_tokens):
    found = trained(small_params, name, small_tokens)
    record = found.record
    for value in (
        record["held_out"]["perplexity"],
        record["held_out"]["bits_per_byte"],
        record["training"]["perplexity"],
        record["gradient"]["at_start"]["far_over_near"],
        record["gradient"]["at_end"]["decay"],
        record["gradient"]["at_end"]["reach"],
    ):
        assert list(value["per_seed"]) == ["3", "5"]
    assert record["protocol"]["corpus"] == "0" * 64
    assert record["gradient"]["far"] == 8
    json.dumps(record, allow_nan=False)


@pytest.mark.parametrize("name", RUNS)
def test_the_tables_are_whole_and_agree_with_the_record(name, small_params, small_tokens):
    found = trained(small_params, name, small_tokens)
    curve = [dict(zip(CURVE_COLUMNS, row, strict=True)) for row in found.curve]
    rows = [dict(zip(GRADIENT_COLUMNS, row, strict=True)) for row in found.gradient]
    assert [(row["seed"], row["step"]) for row in curve] == [
        (seed, step) for seed in (3, 5) for step in range(7)
    ]
    assert [(row["seed"], row["when"], row["distance"]) for row in rows] == [
        (seed, when, distance)
        for seed in (3, 5)
        for when in ("at_start", "at_end")
        for distance in range(12)
    ]
    assert all(0 <= row["low"] <= row["median"] <= row["high"] for row in rows)
    for seed in (3, 5):
        last = [row for row in curve if row["seed"] == seed][-1]["held_out_loss"]
        perplexity = found.record["held_out"]["perplexity"]["per_seed"][str(seed)]
        assert math.exp(last) == pytest.approx(perplexity)
        median = {row["distance"]: row["median"] for row in rows if row["seed"] == seed}
        ratio = found.record["gradient"]["at_end"]["far_over_near"]["per_seed"][str(seed)]
        assert ratio == median[8] / median[1]


def test_the_gradient_at_the_start_is_that_of_the_first_held_out_windows(
    small_params, small_tokens
):
    found = trained(small_params, "rnn", small_tokens).record
    with global_seed(5, "initialisation"):
        model = build_model(recurrent_plan(small_params, "rnn").spec, small_tokens.vocab_size)
    ids_BT = small_tokens.held_out_N[:60].view(5, 12)
    expected = reach(model, ids_BT, small_tokens.held_out_N[12:61:12])
    at_start = found["gradient"]["at_start"]
    assert at_start["far_over_near"]["per_seed"]["5"] == pytest.approx(expected.ratio(8))
    assert at_start["reach"]["per_seed"]["5"] == expected.longest


def test_attention_is_the_ablation_of_the_same_description(small_params, small_tokens):
    """Tracing the gradient draws no number and moves no weight."""
    ablations = {**small_params, "ablations": {"one_block": {"budget": "tiny"}}}
    theirs = train_and_measure(ablation_plan(ablations, "one_block"), small_tokens, "x", None)
    ours = trained(small_params, "attention", small_tokens)
    for part in ("parameters", "held_out", "training"):
        assert ours.record[part] == theirs.record[part]
    assert ours.curve == [row[:4] for row in theirs.curve]


@pytest.mark.parametrize("name", ["rnn", "lstm"])
def test_twice_the_same_is_the_same(name, small_params, small_tokens):
    first, second = (trained(small_params, name, small_tokens) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", ["rnn", "lstm"])
def test_a_killed_training_goes_on_where_it_was(
    name, small_params, small_tokens, tmp_path, monkeypatch
):
    undisturbed = trained(small_params, name, small_tokens)
    done = []

    def killed_in_the_second_seed(*arguments, **options):
        if done:
            raise KeyboardInterrupt
        done.append(train(*arguments, **options))
        return done[0]

    monkeypatch.setattr(experiment, "train", killed_in_the_second_seed)
    with pytest.raises(KeyboardInterrupt):
        trained(small_params, name, small_tokens, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setattr(experiment, "train", train)
    assert trained(small_params, name, small_tokens, tmp_path) == undisturbed
    assert not list(tmp_path.iterdir())


def test_training_reaches_the_recurrent_weights(small_params, small_tokens, monkeypatch):
    before, after = {}, {}

    def watched(model, *arguments, **options):
        before.update({name: tensor.clone() for name, tensor in model.state_dict().items()})
        rows = train(model, *arguments, **options)
        after.update(model.state_dict())
        return rows

    monkeypatch.setattr(experiment, "train", watched)
    small_params["budgets"]["tiny"]["seeds"] = [3]
    trained(small_params, "lstm", small_tokens)
    assert len(before) == 7
    assert not any(torch.equal(after[name], before[name]) for name in before)


def test_a_text_too_short_for_a_window(small_params, small_tokens):
    short = Tokens(small_tokens.train_N, small_tokens.held_out_N[:12], 17, 9, "0" * 64)
    with pytest.raises(UserError, match="12 held-out tokens: too few for windows of 12"):
        trained(small_params, "rnn", short)
