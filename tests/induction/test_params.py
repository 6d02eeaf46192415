import pytest

from remeasure.errors import ParameterError
from remeasure.params.induction import induction_plan


def test_a_plan_is_base_with_the_run_s_own_keys_at_its_part_of_the_budget(small_params):
    small_params["training"]["fraction"] = 0.5
    plan = induction_plan(small_params, "two")
    assert plan.periods == (2, 5)
    assert plan.spec.model_dump() == {**small_params["base"], "n_blocks": 2, "n_heads": 2}
    assert plan.budget.model_dump() == {
        **small_params["induction"]["budget"],
        "steps": 2,
        "warmup_steps": 1,
        "evaluate_every": 1,
        "evaluated_at": (),
        "seeds": (3, 5),
    }


def test_every_value_that_a_plan_reads_is_named(small_params):
    assert set(induction_plan(small_params, "one").addresses) == {
        "base",
        "induction.sequences",
        "induction.budget",
        "induction.runs.one",
        "training.fraction",
        "training.precision",
    }


@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        ("runs.one", "periods", [2, 6]),
        ("runs.one", "n_heads", 1),
        ("sequences", "vocab_size", 8),
        ("sequences", "held_out_seed", 1),
        ("budget", "steps", 5),
    ],
)
def test_what_decides_a_measurement_changes_its_settings(small_params, where, key, value):
    before = induction_plan(small_params, "one").settings
    small_params["induction"]["budget"]["seeds"] = [8]
    assert induction_plan(small_params, "one").settings == before
    _put(small_params, where, key, value)
    assert induction_plan(small_params, "one").settings != before


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("runs.one", "periods", [5, 4], r"periods: \[5, 4\] is not allowed"),
        ("runs.one", "periods", [2, 12], "less than the context of 12"),
        ("runs.one", "periods", [1, 5], "runs.one.periods.0: 1 is not allowed"),
        ("runs.one", "periods", 5, "runs.one.periods: 5 is not allowed"),
        ("runs.one", "mixer", "uniform", "runs.one.mixer: uniform has no heads"),
        ("runs.one", "n_hedas", 2, "runs.one.n_hedas: unknown key"),
        ("sequences", "vocab_size", 1, "sequences.vocab_size: 1 is not allowed"),
        ("sequences", "held_out", 0, "sequences.held_out: 0 is not allowed"),
        ("budget", "evaluated_at", [64], "budget.evaluated_at: unknown key"),
        ("budget", "seeds", [1, 1], "one seed twice"),
    ],
)
def test_what_cannot_be_used_is_named(small_params, where, key, value, message):
    _put(small_params, where, key, value)
    with pytest.raises(ParameterError, match=message):
        induction_plan(small_params, "one")


def test_what_is_missing_is_named(small_params):
    del small_params["induction"]["runs"]["one"]["periods"]
    with pytest.raises(ParameterError, match=r"induction\.runs\.one\.periods: missing"):
        induction_plan(small_params, "one")
    with pytest.raises(ParameterError, match=r"induction\.runs: has no key 'three'"):
        induction_plan(small_params, "three")


def _put(params, where, key, value):
    level = params["induction"]
    for name in where.split("."):
        level = level[name]
    level[key] = value
