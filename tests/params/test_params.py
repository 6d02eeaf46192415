"""What params.yaml may say, and the one line that answers what it may not."""

from pathlib import Path
from typing import Any

import pytest
from dvc.utils.serialize import load_yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from remeasure.errors import ParameterError
from remeasure.params.ablations import ablation_plan, resolve, variant_plan
from remeasure.params.model import ModelSpec
from remeasure.params.reading import read_params
from remeasure.params.training import Budget
from remeasure.pipeline.check import check_all


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"pos": "rotary"},
            "model.pos: 'rotary' is not one of none, learned, sinusoidal, rope, alibi",
        ),
        ({"posistion": "rope"}, "model.posistion: unknown key; known are: d_model, context,"),
        ({"d_model": "128"}, "model.d_model: '128' is not allowed: input should be a valid int"),
        ({"d_model": 0}, "model.d_model: 0 is not allowed: input should be greater than or equal"),
        ({"d_model": True}, "model.d_model: True is not allowed"),
        ({"dropout": float("nan")}, "model.dropout: nan is not allowed"),
        ({"dropout": 1.0}, "model.dropout: 1.0 is not allowed: input should be less than 1"),
        ({"n_heads": 3}, "model: d_model 128 is not divisible by n_heads 3"),
        ({"pos": "rope", "d_head": 7}, "model: pos rope needs an even head width, not 7"),
        ({"pos": "rope", "mixer": "uniform"}, "model: pos rope acts on attention scores"),
        ({"output_projection": False, "d_head": 8}, "4 x 8 is not 128"),
        ({"n_positions": 64}, "model: n_positions 64 is shorter than the context of 128"),
        ({"budget": "large"}, "model.budget: 'large' is not one of standard, short"),
    ],
)
def test_one_line_says_what_is_wrong(
    params: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    changed = {**params, "model": {**params["model"], **change}}
    with pytest.raises(ParameterError) as caught:
        variant_plan(changed)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_key(params: dict[str, Any]) -> None:
    model = {key: value for key, value in params["model"].items() if key != "ffn"}
    with pytest.raises(ParameterError, match=r"model\.ffn: missing"):
        variant_plan({**params, "model": model})


def test_a_table_too_short_for_the_evaluation_is_refused(params: dict[str, Any]) -> None:
    entry = {"budget": "position", "context": 64}
    changed = {**params, "ablations": {"short_table": entry}}
    with pytest.raises(ParameterError, match="64 rows of learned positions cannot be evaluated"):
        ablation_plan(changed, "short_table")


def test_an_unknown_ablation_lists_those_there_are(params: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="has no key 'one_blok'; there are: no_context"):
        ablation_plan(params, "one_blok")


def test_the_committed_parameters_pass(params: dict[str, Any]) -> None:
    check_all(params)
    assert variant_plan(params).spec == resolve(params["base"], {}, "base")


@pytest.mark.parametrize(
    "text",
    ["1e-3", "1e-05", "0.001", "null", "true", "off", "yes", "010", "1_000", "'1e-3'", "~", ".5"],
)
def test_values_are_read_as_dvc_reads_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(f"value: {text}\n")
    ours, theirs = read_params(path)["value"], load_yaml(path)["value"]
    assert (ours, type(ours)) == (theirs, type(theirs))


@pytest.mark.parametrize("text", ["", "- 1\n- 2", "3", "a: [", "a: b: c", "\x00", "a: 1\na: 2"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(ParameterError, match=r"params\.yaml"):
        read_params(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not found; run the command in the folder"):
        read_params(tmp_path / "params.yaml")


@pytest.mark.parametrize("change", [{"referent": {"\n": 1}}, {"corpus": {"\n\n": 1}}])
def test_a_key_that_breaks_lines_does_not_break_the_message(
    params: dict[str, Any], change: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError) as caught:
        check_all({**params, **change})
    assert "\n" not in str(caught.value)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=4,
    ),
    where=st.data(),
)
@settings(max_examples=200, deadline=None)
def test_any_value_anywhere_passes_or_gives_one_line(
    params: dict[str, Any], value: Any, where: st.DataObject
) -> None:
    def replaced(tree: dict[str, Any]) -> dict[str, Any]:
        key = where.draw(st.sampled_from(sorted(tree)))
        deeper = isinstance(tree[key], dict) and where.draw(st.booleans())
        return {**tree, key: replaced(tree[key]) if deeper else value}

    message = "passes"
    try:
        check_all(replaced(params))
    except ParameterError as error:
        message = str(error)
    assert message.strip()
    assert "\n" not in message


def test_fraction_scales_steps_and_never_to_zero(params: dict[str, Any]) -> None:
    budget = Budget.model_validate({**params["budgets"]["deep_warmup"], "seeds": [0]})
    assert budget.at(1) == budget
    assert (budget.at(0.1).steps, budget.at(0.1).warmup_steps) == (100, 20)
    assert budget.at(1e-9).steps == 1


def test_seeds_may_not_repeat(params: dict[str, Any]) -> None:
    budgets = {**params["budgets"], "standard": {**params["budgets"]["standard"], "seeds": [1, 1]}}
    with pytest.raises(ParameterError, match=r"budgets\.standard: seeds \[1, 1\] name one seed"):
        ablation_plan({**params, "budgets": budgets}, "one_block")


def test_model_keys_are_documented_in_base(params: dict[str, Any]) -> None:
    assert set(params["base"]) == set(ModelSpec.model_fields)
