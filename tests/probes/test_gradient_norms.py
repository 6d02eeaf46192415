"""Norms against the slope of the loss itself, in float64."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from remeasure.data.tokens import Tokens, save_tokens
from remeasure.errors import ParameterError, UserError
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention, attention_layers
from remeasure.params.model import ModelSpec
from remeasure.probes import gradient_norms
from remeasure.probes.gradient_norms import block_gradient_norms
from remeasure.probes.real_text import training_windows

NORMS = ("pre", "post")


@pytest.fixture
def model(small_spec: ModelSpec, small_tokens: Tokens) -> LanguageModel:
    torch.manual_seed(5)
    spec = small_spec.model_copy(update={"n_blocks": 3})
    return build(spec, small_tokens.vocab_size).double()


@pytest.fixture
def batch(small_tokens: Tokens) -> tuple[Tensor, Tensor]:
    return training_windows(small_tokens, context=12, windows=4, seed=0)


def _loss(model: LanguageModel, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())


def _value_rows(layer: SelfAttention) -> Tensor:
    """True for the rows of the joint matrix that the value depends on, found by trying."""
    weight = layer.query_key_value.weight
    x_BTD = torch.ones(1, 1, weight.shape[1], dtype=weight.dtype)
    rows = torch.zeros(len(weight), dtype=torch.bool)
    with torch.no_grad():
        before = layer.project(x_BTD, None)[2].clone()
        for row in range(len(weight)):
            weight[row] += 1
            rows[row] = not torch.equal(layer.project(x_BTD, None)[2], before)
            weight[row] -= 1
    return rows


def _slope(
    model: LanguageModel, batch: tuple[Tensor, Tensor], moves: list[tuple[nn.Parameter, Tensor]]
) -> float:
    """Steepest slope of the loss over the chosen numbers, by central difference along the gradient.

    The gradient gives the direction alone; the slope is measured on the loss.
    """
    gradients = torch.autograd.grad(_loss(model, batch), [parameter for parameter, _ in moves])
    steps = [grad * chosen for grad, (_, chosen) in zip(gradients, moves, strict=True)]
    length = torch.stack([step.square().sum() for step in steps]).sum().sqrt()
    losses = []
    with torch.no_grad():
        for distance in (1e-4, -2e-4):
            for (parameter, _), step in zip(moves, steps, strict=True):
                parameter += step / length * distance
            losses.append(_loss(model, batch).item())
        for (parameter, _), step in zip(moves, steps, strict=True):
            parameter += step / length * 1e-4
    return (losses[0] - losses[1]) / 2e-4


def test_norms_are_slopes_of_the_loss(model: LanguageModel, batch: tuple[Tensor, Tensor]) -> None:
    norms = block_gradient_norms(model, *batch)
    for index, block in enumerate(model.blocks):
        layer = attention_layers(block)[0]
        output, projections = layer.output.weight, layer.query_key_value.weight
        assert isinstance(output, nn.Parameter)
        chosen_rows = _value_rows(layer)[:, None].to(projections.dtype)
        chosen = {
            "block": [(parameter, torch.ones_like(parameter)) for parameter in block.parameters()],
            "output_projection": [(output, torch.ones_like(output))],
            "value": [(projections, chosen_rows.expand_as(projections))],
        }
        for name, moves in chosen.items():
            assert norms[name][index] == pytest.approx(_slope(model, batch, moves), rel=1e-5)


def test_a_second_call_does_not_add_up(model: LanguageModel, batch: tuple[Tensor, Tensor]) -> None:
    assert block_gradient_norms(model, *batch) == block_gradient_norms(model, *batch)


@pytest.mark.usefixtures("tokens_file")
def test_the_record_sums_up_each_seeds_blocks(small_settings: Callable[..., Any]) -> None:
    record = gradient_norms.measure(small_settings("gradient_norms"))
    assert record["pre"] != record["post"]
    for arrangement in NORMS:
        for choice in ("block", "output_projection", "value"):
            found = record[arrangement][choice]
            assert len(found["norms"]) == 3
            assert (found["first"], found["last"]) == (found["norms"][0], found["norms"][-1])
            for seed in ("3", "4"):
                first, last = found["first"]["per_seed"][seed], found["last"]["per_seed"][seed]
                assert found["ratio"]["per_seed"][seed] == last / first
                assert first > 0
            assert found["first"]["per_seed"]["3"] != found["first"]["per_seed"]["4"]


@pytest.mark.usefixtures("tokens_file")
def test_post_norm_is_built_where_it_is_asked_for(small_settings: Callable[..., Any]) -> None:
    swapped = small_settings(
        "gradient_norms", pre={"n_blocks": 3, "norm": "post"}, post={"n_blocks": 3}
    )
    plain = gradient_norms.measure(small_settings("gradient_norms"))
    turned = gradient_norms.measure(swapped)
    assert (turned["pre"], turned["post"]) == (plain["post"], plain["pre"])


def test_a_text_shorter_than_a_window(
    tokens_file: Path, small_tokens: Tokens, small_settings: Callable[..., Any]
) -> None:
    short = Tokens(small_tokens.train_N[:9], small_tokens.held_out_N, 17, 600, "0" * 64)
    save_tokens(tokens_file, short)
    with pytest.raises(UserError, match="9 tokens are too few for windows of 12"):
        gradient_norms.measure(small_settings("gradient_norms"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pre": {"mixer": "uniform"}}, "pre needs mixer attention, not uniform"),
        ({"post": {"output_projection": False}}, "post needs output_projection true"),
        ({"seeds": [1, 1]}, "name one seed twice"),
    ],
)
def test_models_without_those_matrices_are_refused(
    small_settings: Callable[..., Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        small_settings("gradient_norms", **change)
