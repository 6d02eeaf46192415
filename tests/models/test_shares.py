"""The ablations that share out one width differ in nothing but what they are about."""

from typing import Any

import pytest

from remeasure.models.build import build
from remeasure.models.parts import parameter_count
from remeasure.params.ablations import ablation_plan


def parameters(params: dict[str, Any], name: str) -> int:
    return parameter_count(
        build(ablation_plan(params, name).spec, params["tokenizer"]["vocab_size"])
    )


@pytest.mark.parametrize("multiple", [1, 2, 8])
def test_another_feed_forward_layer_leaves_the_parameters_nearly_equal(
    params: dict[str, Any], multiple: int
) -> None:
    name = f"feed_forward_{multiple}"
    block = parameters(params, "heads_4")
    assert parameters(params, name) == pytest.approx(block, rel=0.015)
    spec = ablation_plan(params, name).spec
    assert spec.ffn_multiple == multiple
    changed = spec.model_copy(update={"d_model": 128, "ffn_multiple": 4})
    assert changed == ablation_plan(params, "heads_4").spec


@pytest.mark.parametrize("heads", [1, 2, 8, 16])
def test_the_number_of_heads_leaves_the_parameters_equal(
    params: dict[str, Any], heads: int
) -> None:
    assert parameters(params, f"heads_{heads}") == parameters(params, "heads_4")


def test_tying_saves_exactly_one_matrix(params: dict[str, Any]) -> None:
    saved = parameters(params, "heads_4") - parameters(params, "tied")
    assert saved == params["tokenizer"]["vocab_size"] * params["base"]["d_model"]


@pytest.mark.parametrize("name", ["heads_1", "heads_16", "tied", "feed_forward_2"])
def test_all_have_the_budget_of_the_block(params: dict[str, Any], name: str) -> None:
    assert ablation_plan(params, name).budget == ablation_plan(params, "heads_4").budget
