import pytest

from remeasure.errors import ParameterError
from remeasure.params.masked import masked_plan


def test_a_plan_is_base_with_the_run_s_own_keys_and_its_budget(small_params):
    small_params["training"]["fraction"] = 0.5
    plan = masked_plan(small_params, "any")
    assert plan.share == (0.0, 1.0)
    assert plan.spec.model_dump() == {**small_params["base"], "causal": False}
    assert (plan.budget.steps, plan.budget.seeds) == (2, (3, 5))


def test_every_value_that_a_plan_reads_is_named(small_params):
    assert set(masked_plan(small_params, "fixed").addresses) == {
        "base",
        "masked.asked",
        "masked.runs.fixed",
        "budgets.short",
        "training.fraction",
        "training.precision",
    }


def test_settings_change_with_the_share_and_not_with_the_seeds(small_params):
    before = masked_plan(small_params, "fixed").settings
    assert masked_plan(small_params, "any").settings != before
    small_params["budgets"]["short"]["seeds"] = [7]
    assert masked_plan(small_params, "fixed").settings == before
    small_params["masked"]["asked"]["windows"] = 5
    assert masked_plan(small_params, "fixed").settings != before


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("masked.runs.fixed", "share", [0.5, 0.2], "share.*must have its lowest value first"),
        ("masked.runs.fixed", "share", [0.5, 1.2], "share.1: 1.2 is not allowed"),
        ("masked.runs.fixed", "budget", "long", "fixed.budget: 'long' is not one of short"),
        ("masked.runs.fixed", "causal", True, "fixed.causal: true hides what follows for good"),
        ("masked.runs.fixed", "mixr", "none", "fixed.mixr: unknown key"),
        ("masked.asked", "percents", [0], "asked.percents.0: 0 is not allowed"),
        ("masked.asked", "percents", [], "asked.percents"),
        ("budgets.short", "evaluated_at", [8], "short lists windows in evaluated_at"),
    ],
)
def test_what_cannot_be_used_is_named(small_params, where, key, value, message):
    level = small_params
    for name in where.split("."):
        level = level[name]
    level[key] = value
    with pytest.raises(ParameterError, match=message):
        masked_plan(small_params, "fixed")
