import json
from dataclasses import replace

import pytest

from remeasure.errors import UserError
from remeasure.experiments.language import train_and_measure
from remeasure.normalisation.experiment import CURVE_COLUMNS, train_and_ask
from remeasure.params.ablations import ablation_plan
from remeasure.params.normalisation import normalisation_plan


def trained(params, kind, tokens):
    return train_and_ask(normalisation_plan(params, kind), tokens, "test")


def test_a_record_has_every_number_over_the_seeds(small_params, small_tokens):
    record = trained(small_params, "batch", small_tokens).record
    assert record["windows"] == {"asked": 6, "batch": 4}
    modes, leak = record["modes"], record["leak"]
    assert modes["token"]["training"]["single"] is None
    for value in (
        record["held_out"]["perplexity"],
        modes["whole"]["evaluation"]["batch"],
        modes["whole"]["training"]["single"],
        modes["token"]["training"]["batch"],
        leak["training"]["later_token"],
        leak["training"]["other_window"],
    ):
        assert set(value["per_seed"]) == {"3", "5"}
        assert value["mean"] > 0
    assert set(leak["evaluation"]["other_window"]["per_seed"].values()) == {0.0}
    json.dumps(record, allow_nan=False)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_norms_over_a_token_give_one_number_in_every_mode(small_params, small_tokens, kind):
    record = trained(small_params, kind, small_tokens).record
    found = [
        batch["mean"]
        for way in record["modes"].values()
        for mode in way.values()
        for batch in mode.values()
    ]
    assert len(found) == 8
    assert found == pytest.approx([found[0]] * 8, rel=1e-5)
    assert {value["mean"] for mode in record["leak"].values() for value in mode.values()} == {0.0}


def test_the_layer_norm_run_is_the_ablation_of_the_same_block(small_params, small_tokens):
    ablation = train_and_measure(ablation_plan(small_params, "plain"), small_tokens, "test", None)
    ours = trained(small_params, "layer", small_tokens)
    assert ours.record["held_out"]["perplexity"] == ablation.record["held_out"]["perplexity"]
    assert ours.record["parameters"] == ablation.record["parameters"]
    assert [row[:4] for row in ablation.curve] == ours.curve


def test_two_runs_give_the_same_bytes(small_params, small_tokens):
    first, second = (trained(small_params, "batch", small_tokens) for _ in range(2))
    assert json.dumps(first.record) == json.dumps(second.record)
    assert json.dumps(first.curve) == json.dumps(second.curve)
    assert all(len(row) == len(CURVE_COLUMNS) for row in first.curve)


def test_a_text_too_short_for_a_window_is_refused(small_params, small_tokens):
    short = replace(small_tokens, train_N=small_tokens.train_N[:9])
    with pytest.raises(UserError, match="9 training and 300 held-out tokens: too few"):
        trained(small_params, "rms", short)
