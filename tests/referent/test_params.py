import pytest

from remeasure.errors import ParameterError
from remeasure.params.referent import referent_plan


def test_a_plan_is_base_with_the_run_s_own_keys_steps_and_rate(small_params):
    small_params["training"]["fraction"] = 0.5
    plan = referent_plan(small_params, "attention")
    assert plan.task == "pool"
    assert plan.spec.model_dump() == {**small_params["base"], "n_blocks": 2}
    assert plan.budget.model_dump() == {
        **small_params["referent"]["budget"],
        "steps": 2,
        "learning_rate": 1e-3,
        "warmup_steps": 1,
        "evaluate_every": 1,
        "evaluated_at": (),
        "seeds": (3, 5),
    }


def test_every_value_that_a_plan_reads_is_named(small_params):
    assert set(referent_plan(small_params, "attention").addresses) == {
        "base",
        "referent.language",
        "referent.budget",
        "referent.runs.attention",
        "training.fraction",
        "training.precision",
    }


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        (
            "runs.attention",
            "task",
            "garden",
            "runs.attention.task: 'garden' is not one of category, pool",
        ),
        ("runs.attention", "steps", 0, "runs.attention.steps: 0 is not allowed"),
        ("runs.attention", "learning_rate", 0.0, "attention.learning_rate: 0.0 is not allowed"),
        ("runs.attention", "mixr", "none", "runs.attention.mixr: unknown key"),
        ("runs.attention", "n_heads", 3, "not divisible"),
        ("language", "held_out", 0.6, "language.held_out: 0.6 is not allowed"),
        ("language", "held_out", 0.0, "language.held_out: 0.0 is not allowed"),
        ("budget", "steps", 9, "budget.steps: unknown key"),
        ("budget", "learning_rate", 1e-3, "budget.learning_rate: unknown key"),
        ("budget", "evaluated_at", [64], "budget.evaluated_at: unknown key"),
        ("budget", "seeds", [1, 1], "one seed twice"),
        ("budget", "batch", 1, "budget.batch: unknown key"),
    ],
)
def test_what_cannot_be_used_is_named(small_params, where, key, value, message):
    level = small_params["referent"]
    for name in where.split("."):
        level = level[name]
    level[key] = value
    with pytest.raises(ParameterError, match=message):
        referent_plan(small_params, "attention")


@pytest.mark.parametrize("key", ["task", "steps", "learning_rate"])
def test_what_is_missing_is_named(small_params, key):
    del small_params["referent"]["runs"]["attention"][key]
    with pytest.raises(ParameterError, match=f"referent.runs.attention.{key}: missing"):
        referent_plan(small_params, "attention")


def test_a_run_that_is_not_there_is_named(small_params):
    with pytest.raises(ParameterError, match=r"referent\.runs: has no key 'three'"):
        referent_plan(small_params, "three")
