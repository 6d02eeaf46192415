import json

import pytest

from remeasure.errors import UserError
from remeasure.experiments.language import train_and_measure
from remeasure.params.ablations import ablation_plan
from remeasure.params.scaled_embedding import scaled_embedding_plan
from remeasure.scaled_embedding.experiment import train_and_evaluate


def trained(params, name, tokens):
    return train_and_evaluate(scaled_embedding_plan(params, name), tokens, "test")


def test_a_record_has_every_number_over_the_seeds(small_params, small_tokens):
    record = trained(small_params, "tied", small_tokens).record
    for split in ("held_out", "training"):
        assert set(record[split]["perplexity"]["per_seed"]) == {"3", "5"}
    json.dumps(record, allow_nan=False)


def test_tying_saves_the_weights_of_the_output_layer(small_params, small_tokens):
    tied, untied = (
        trained(small_params, name, small_tokens).record["parameters"]
        for name in ("tied", "untied")
    )
    assert untied - tied == 8 * small_tokens.vocab_size


def test_untied_it_starts_as_the_ablation_of_the_same_block(small_params, small_tokens):
    """Only what AdamW's steps are worth is different afterwards."""
    plain = train_and_measure(ablation_plan(small_params, "plain"), small_tokens, "test", None)
    ours = trained(small_params, "untied", small_tokens)
    assert ours.curve[0][:3] == plain.curve[0][:3]
    assert ours.curve[0][3] == pytest.approx(plain.curve[0][3], rel=1e-6)
    assert ours.curve[-1][3] != pytest.approx(plain.curve[-1][3], rel=1e-6)


def test_two_runs_give_the_same_bytes(small_params, small_tokens):
    first, second = (trained(small_params, "tied", small_tokens) for _ in range(2))
    assert json.dumps(first.record) == json.dumps(second.record)
    assert first.curve == second.curve


def test_a_text_shorter_than_a_window_is_refused(small_params, small_tokens):
    small_params["base"]["context"] = 4096
    with pytest.raises(UserError, match="too few for windows of 4096"):
        trained(small_params, "tied", small_tokens)
