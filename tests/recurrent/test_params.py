import pytest

from remeasure.errors import ParameterError
from remeasure.params.model import ModelSpec
from remeasure.params.recurrent import RecurrentSpec, recurrent_plan, sequence_cost_plan


def test_a_run_names_a_cell_or_differs_from_base(small_params):
    rnn, attention = (recurrent_plan(small_params, name).spec for name in ("rnn", "attention"))
    assert rnn == RecurrentSpec(cell="rnn", d_model=8, d_hidden=10, context=12)
    assert attention == ModelSpec(**small_params["base"])


def test_every_value_that_a_plan_reads_is_named(small_params):
    assert set(recurrent_plan(small_params, "lstm").addresses) == {
        "base",
        "recurrent.budget",
        "recurrent.gradient",
        "recurrent.runs.lstm",
        "budgets.tiny",
        "training.fraction",
        "training.precision",
    }


def test_the_budget_is_scaled(small_params):
    small_params["training"]["fraction"] = 0.5
    assert recurrent_plan(small_params, "rnn").budget.steps == 3


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("recurrent.runs.rnn.d_hidden", 11),
        ("recurrent.gradient.windows", 6),
        ("recurrent.gradient.far", 7),
        ("base.d_model", 9),
        ("budgets.tiny.steps", 7),
        ("training.precision", "tf32"),
    ],
)
def test_a_changed_experiment_has_other_settings(small_params, where, value):
    before = recurrent_plan(small_params, "rnn").settings
    put(small_params, where, value)
    assert recurrent_plan(small_params, "rnn").settings != before


def test_seeds_and_device_are_no_settings(small_params):
    before = recurrent_plan(small_params, "rnn").settings
    put(small_params, "budgets.tiny.seeds", [9])
    put(small_params, "training.device", "auto")
    assert recurrent_plan(small_params, "rnn").settings == before


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("runs.rnn.cell", "gru", "runs.rnn.cell: 'gru' is not one of rnn, lstm"),
        ("runs.rnn.d_hidden", 0, "runs.rnn.d_hidden: 0 is not allowed"),
        ("runs.rnn.n_heads", 4, "runs.rnn.n_heads: unknown key"),
        ("runs.attention.d_hidden", 4, "runs.attention.d_hidden: unknown key"),
        ("runs.attention.mixer", "none", "mixer: none lets no gradient reach another token"),
        ("gradient.far", 12, "far: 12 is not inside a window of 12 tokens; at most 11"),
        ("gradient.far", 1, "gradient.far: 1 is not allowed"),
        ("gradient.windows", 0, "gradient.windows: 0 is not allowed"),
        ("budget", "long", "recurrent.budget: 'long' is not one of tiny"),
        ("budget", ["tiny"], "is not one of tiny"),
    ],
)
def test_what_cannot_be_trained_is_named(small_params, where, value, message):
    put(small_params, f"recurrent.{where}", value)
    name = where.split(".")[1] if where.startswith("runs.") else "lstm"
    with pytest.raises(ParameterError, match=message):
        recurrent_plan(small_params, name)


def test_a_budget_with_further_windows_is_refused(small_params):
    put(small_params, "budgets.tiny.evaluated_at", [6])
    with pytest.raises(ParameterError, match="tiny lists windows"):
        recurrent_plan(small_params, "rnn")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("lengths", [2, 4, 6], "6 is not twice 4"),
        ("lengths", [2], "lengths: .* at least 2 items"),
        ("tokens_per_batch", 12, "12 is no multiple of the longest length, 8"),
        ("repeats", 2, "repeats: 2 is not allowed"),
        ("device", "tpu", "'tpu' is not one of auto, cpu, cuda"),
    ],
)
def test_what_cannot_be_timed_is_named(small_params, key, value, message):
    put(small_params, f"recurrent.sequence_cost.{key}", value)
    with pytest.raises(ParameterError, match=message):
        sequence_cost_plan(small_params)


def test_the_digest_of_the_times_knows_what_is_timed(small_params):
    before = sequence_cost_plan(small_params).settings
    put(small_params, "recurrent.runs.lstm.d_hidden", 7)
    assert sequence_cost_plan(small_params).settings != before


def put(params, where, value):
    *folders, key = where.split(".")
    for folder in folders:
        params = params[folder]
    params[key] = value
