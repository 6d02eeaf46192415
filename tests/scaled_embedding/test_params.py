import pytest

from remeasure.errors import ParameterError
from remeasure.params.scaled_embedding import scaled_embedding_plan


def test_a_plan_is_base_with_its_keys_and_budget(small_params):
    small_params["training"]["fraction"] = 0.5
    plan = scaled_embedding_plan(small_params, "tied")
    assert plan.spec.model_dump() == {**small_params["base"], "tie_embeddings": True}
    assert (plan.budget.steps, plan.budget.seeds) == (2, (3, 5))


def test_every_value_that_a_plan_reads_is_named(small_params):
    assert set(scaled_embedding_plan(small_params, "untied").addresses) == {
        "base",
        "scaled_embedding.budget",
        "scaled_embedding.runs.untied",
        "budgets.short",
        "training.fraction",
        "training.precision",
    }


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [("base", "d_model", 12), ("training", "precision", "tf32"), ("budgets.short", "steps", 5)],
)
def test_a_changed_experiment_has_other_settings(small_params, section, key, value):
    before = scaled_embedding_plan(small_params, "tied").settings
    level = small_params
    for name in section.split("."):
        level = level[name]
    level[key] = value
    assert scaled_embedding_plan(small_params, "tied").settings != before


def test_settings_tell_the_runs_apart(small_params):
    tied, untied = (scaled_embedding_plan(small_params, name) for name in ("tied", "untied"))
    assert tied.settings != untied.settings


def test_seeds_are_no_settings(small_params):
    before = scaled_embedding_plan(small_params, "tied").settings
    small_params["budgets"]["short"]["seeds"] = [9]
    assert scaled_embedding_plan(small_params, "tied").settings == before


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("budget", "long", "scaled_embedding.budget: 'long' is not one of short"),
        ("runs", {"tied": {"tied": True}}, "runs.tied.tied: unknown key"),
        ("runs", {"other": {}}, "scaled_embedding.runs"),
    ],
)
def test_what_cannot_be_trained_is_named(small_params, key, value, message):
    small_params["scaled_embedding"][key] = value
    with pytest.raises(ParameterError, match=message):
        scaled_embedding_plan(small_params, "tied")
