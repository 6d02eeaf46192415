import pytest

from remeasure.errors import ParameterError
from remeasure.params.normalisation import normalisation_plan


def test_a_plan_is_base_with_its_budget(small_params):
    small_params["training"]["fraction"] = 0.5
    plan = normalisation_plan(small_params, "rms")
    assert plan.kind == "rms"
    assert plan.spec.model_dump() == small_params["base"]
    assert (plan.budget.steps, plan.budget.seeds) == (2, (3, 5))


def test_every_value_that_a_plan_reads_is_named(small_params):
    assert set(normalisation_plan(small_params, "batch").addresses) == {
        "base",
        "normalisation.asked",
        "normalisation.runs.batch",
        "budgets.short",
        "training.fraction",
        "training.precision",
    }


def test_settings_tell_the_norms_apart(small_params):
    kinds = ("layer", "batch", "rms")
    assert len({normalisation_plan(small_params, kind).settings for kind in kinds}) == 3


@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("normalisation.runs.rms", "kind", "group", "rms.kind: 'group' is not one of layer"),
        ("normalisation.runs.rms", "norm", "none", "rms.norm: none is no norm to exchange"),
        ("normalisation.runs.rms", "causal", False, "rms.causal: false allows no cache"),
        ("normalisation.runs.rms", "dropout", 0.1, "rms.dropout: 0.1 would act in training"),
        ("normalisation.runs.rms", "budget", "long", "rms.budget: 'long' is not one of short"),
        ("normalisation.asked", "batch_size", 1, "asked.batch_size: 1 is not allowed"),
    ],
)
def test_what_cannot_be_used_is_named(small_params, where, key, value, message):
    level = small_params
    for name in where.split("."):
        level = level[name]
    level[key] = value
    with pytest.raises(ParameterError, match=message):
        normalisation_plan(small_params, "rms")
