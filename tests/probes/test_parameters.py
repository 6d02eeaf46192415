"""Counts against arithmetic done here, on the small text's vocabulary of 17."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from remeasure.params.probes import probe_settings
from remeasure.probes import parameters

pytestmark = pytest.mark.usefixtures("tokens_file")


def test_the_lines_of_a_model_of_gpt2s_kind(small_settings: Callable[..., Any]) -> None:
    lines = parameters.measure(small_settings("parameters"))["gpt2"]
    block = 12 * 16**2 + 13 * 16
    total = 11 * 16 + 12 * 16 + 3 * block + 2 * 16
    assert lines == {
        "token_embeddings": 11 * 16,
        "position_embeddings": 12 * 16,
        "block": block,
        "blocks": 3 * block,
        "final_layernorm": 2 * 16,
        "total_tied": total,
        "total_built": total,
    }


def test_gpt2_small_is_the_published_size(
    params: dict[str, Any], small_settings: Callable[..., Any]
) -> None:
    shape = {
        "d_model": 768,
        "context": 1024,
        "n_blocks": 12,
        "n_heads": 12,
        "qkv_bias": True,
        "tie_embeddings": True,
        "output_bias": False,
    }
    settings = small_settings("parameters", gpt2=shape, gpt2_vocab_size=50257)
    lines = parameters.measure(settings)["gpt2"]
    assert lines["total_built"] == lines["total_tied"] == 124_439_808


@pytest.mark.parametrize("change", [{"tie_embeddings": False}, {"output_bias": True}])
def test_a_model_with_more_than_its_lines_shows(
    small_settings: Callable[..., Any], change: dict[str, bool]
) -> None:
    shape = {"tie_embeddings": True, "output_bias": False, **change}
    lines = parameters.measure(small_settings("parameters", gpt2=shape))["gpt2"]
    assert lines["total_built"] > lines["total_tied"]


def test_formula_built_block_and_share(small_settings: Callable[..., Any]) -> None:
    record = parameters.measure(small_settings("parameters", widths=[2, 96, 12288]))
    formula = record["block_formula"]
    assert formula["formula"] == formula["built"]
    for width in (2, 96, 12288):
        assert formula["formula"][str(width)] == width * (12 * width + 13)
        assert formula["qkv_biases"][str(width)] == 3 * width
        share = Fraction(8 * width**2 + 5 * width, 12 * width**2 + 10 * width)
        assert record["ffn_share"][str(width)] == float(share)


def test_a_block_without_those_biases_misses_the_formula(
    small_settings: Callable[..., Any],
) -> None:
    record = parameters.measure(small_settings("parameters", gpt2={"qkv_bias": False}))
    for width, number in record["block_formula"]["formula"].items():
        assert record["block_formula"]["built"][width] == number - 3 * int(width)


def test_parts_of_one_block(small_settings: Callable[..., Any]) -> None:
    parts = parameters.measure(small_settings("parameters"))["one_block"]
    total = parts.pop("total")
    assert parts == {
        "token_embeddings": 17 * 16,
        "position_embeddings": 12 * 16,
        "attention": 4 * 16**2 + 16,
        "feed_forward": 8 * 16**2 + 5 * 16,
        "layernorms": 4 * 16,
        "final_layernorm": 2 * 16,
        "output_layer": 17 * 16 + 17,
    }
    assert total == sum(parts.values())


def test_rungs(small_settings: Callable[..., Any]) -> None:
    ladder = parameters.measure(small_settings("parameters"))["ladder"]
    assert ladder == {"four_heads_extra": 16 * 16 + 16, "layernorm_extra": 3 * 2 * 16}


def test_the_rungs_are_the_ablations_of_the_same_names(params: dict[str, Any]) -> None:
    for name in ("head", "heads", "feed_forward", "one_block"):
        ablation = {**params["ablations"][name]}
        assert ablation.pop("budget") == "standard"
        assert params["probes"]["parameters"][name] == ablation


def test_the_chapters_rungs(params: dict[str, Any], tokens_file: Path) -> None:
    settings: Any = probe_settings(params, "parameters")
    ladder = parameters.measure(settings)["ladder"]
    assert ladder == {"four_heads_extra": 128 * 128 + 128, "layernorm_extra": 3 * 2 * 128}
