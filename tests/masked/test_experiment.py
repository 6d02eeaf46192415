import json
from dataclasses import replace

import pytest

from remeasure.errors import UserError
from remeasure.masked.experiment import CURVE_COLUMNS, train_and_ask
from remeasure.masked.scoring import baseline
from remeasure.params.masked import masked_plan


def test_a_record_has_every_number_over_the_seeds(small_params, small_tokens):
    record = train_and_ask(masked_plan(small_params, "any"), small_tokens, "test").record
    assert record["protocol"]["corpus"] == small_tokens.corpus_sha256
    for value in (
        record["hidden"]["15"]["accuracy"],
        record["hidden"]["100"]["perplexity"],
        record["orders"]["left_to_right"]["nats"],
        record["orders"]["left_to_right"]["after_the_first"]["perplexity"],
        record["orders"]["right_to_left"]["difference"],
        record["orders"]["random"]["nats"],
        record["revealed"]["relative_change"],
    ):
        assert set(value["per_seed"]) == {"3", "5"}
        assert value["mean"] > 0
    assert record["revealed"]["causal_largest_change"]["per_seed"] == {"3": 0.0, "5": 0.0}
    # 300 held-out tokens are 24 windows of 12 and the token that follows; 4 are asked in order.
    assert record["tokens"] == {"whole_split": 288, "ordered_windows": 48}
    whole = baseline(small_tokens.train_N, small_tokens.held_out_N[:288], 17)
    assert record["baseline"]["whole_split"] == whole


def test_the_curve_has_one_row_a_seed_and_step(small_params, small_tokens):
    curve = train_and_ask(masked_plan(small_params, "fixed"), small_tokens, "test").curve
    assert all(len(row) == len(CURVE_COLUMNS) for row in curve)
    assert [row[:2] for row in curve] == [[seed, step] for seed in (3, 5) for step in range(5)]


def test_two_runs_give_the_same_bytes(small_params, small_tokens):
    first, second = (
        train_and_ask(masked_plan(small_params, "any"), small_tokens, "test") for _ in range(2)
    )
    assert json.dumps(first.record) == json.dumps(second.record)
    assert json.dumps(first.curve) == json.dumps(second.curve)


def test_a_text_too_short_for_a_window_is_refused(small_params, small_tokens):
    short = replace(small_tokens, held_out_N=small_tokens.held_out_N[:12])
    with pytest.raises(UserError, match="12 held-out tokens: too few for windows of 12"):
        train_and_ask(masked_plan(small_params, "any"), short, "test")
