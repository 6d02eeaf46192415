import pytest

from remeasure.errors import ParameterError
from remeasure.params.reading import section
from remeasure.params.seq2seq import seq2seq_plan


def test_a_plan_has_the_sizes_of_its_architecture(small_params):
    small_params["training"]["fraction"] = 0.5
    plan = seq2seq_plan(small_params, "sort_cross_attention")
    assert (plan.task, plan.architecture) == ("sort", "cross_attention")
    assert plan.sizes.model_dump() == {"d_model": 8, "n_blocks": 2, "n_heads": 2}
    assert (plan.budget.steps, plan.budget.evaluated_at) == (2, ())
    assert plan.budget.learning_rate == 1e-3
    assert plan.strings.evaluated == (2, 4, 6)


def test_every_value_that_a_plan_reads_is_named_and_decides(small_params):
    plan = seq2seq_plan(small_params, "sort_lstm")
    for address in plan.addresses:
        section(small_params, address)
    for change in (
        {"strings": {**small_params["seq2seq"]["strings"], "seed": 1}},
        {"budget": {**small_params["seq2seq"]["budget"], "steps": 5}},
        {"architectures": {"lstm": {"d_model": 9, "learning_rate": 1e-3}}},
        {"architectures": {"lstm": {"d_model": 8, "learning_rate": 2e-3}}},
        {"runs": {"sort_lstm": {"task": "copy", "architecture": "lstm"}}},
    ):
        changed = {**small_params, "seq2seq": {**small_params["seq2seq"], **change}}
        assert seq2seq_plan(changed, "sort_lstm").settings != plan.settings
    seeds = {**small_params["seq2seq"]["budget"], "seeds": [9]}
    other = {**small_params, "seq2seq": {**small_params["seq2seq"], "budget": seeds}}
    assert seq2seq_plan(other, "sort_lstm").settings == plan.settings


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("runs.sort_lstm", "task", "shuffle", "'shuffle' is not one of copy, reverse, sort"),
        ("runs.sort_lstm", "architecture", "rnn", "'rnn' is not one of lstm, bahdanau"),
        ("runs.sort_lstm", "steps", 3, "runs.sort_lstm.steps: unknown key"),
        ("architectures.lstm", "n_heads", 2, "architectures.lstm.n_heads: unknown key"),
        ("architectures.lstm", "d_model", 0, "architectures.lstm.d_model: 0 is not allowed"),
        ("strings", "trained", [], "strings.trained"),
        ("strings", "longer", [3], "lengths must grow"),
        ("strings", "example", 0, "strings.example: 0 is not allowed"),
        ("architectures.lstm", "learning_rate", 0.0, "lstm.learning_rate: 0.0 is not allowed"),
        ("budget", "evaluated_at", [4], "budget.evaluated_at: unknown key"),
        ("budget", "learning_rate", 1e-3, "budget.learning_rate: unknown key"),
    ],
)
def test_what_cannot_be_used_is_named(small_params, where, key, value, message):
    changed = small_params["seq2seq"]
    level = changed
    for name in where.split("."):
        level = level[name]
    level[key] = value
    with pytest.raises(ParameterError, match=message):
        seq2seq_plan(small_params, "sort_lstm")


@pytest.mark.parametrize(
    ("d_model", "n_heads", "message"),
    [
        (8, 3, "d_model 8 must be even and divisible"),
        (9, 3, "d_model 9 must be even and divisible"),
        (6, 2, "pos rope needs an even head width, not 3"),
    ],
)
def test_widths_that_heads_or_positions_cannot_have(small_params, d_model, n_heads, message):
    sizes = {"d_model": d_model, "n_blocks": 1, "n_heads": n_heads, "pos": "rope"}
    described = {"decoder_only": {**sizes, "learning_rate": 1e-3}}
    small_params["seq2seq"]["architectures"] = described
    with pytest.raises(ParameterError, match=message):
        seq2seq_plan(small_params, "sort_decoder_only")


def test_every_task_meets_every_architecture(params):
    runs = {(run["task"], run["architecture"]) for run in params["seq2seq"]["runs"].values()}
    assert len(runs) == len(params["seq2seq"]["runs"]) == 12
    for name in params["seq2seq"]["runs"]:
        plan = seq2seq_plan(params, name)
        assert name == f"{plan.task}_{plan.architecture}"
