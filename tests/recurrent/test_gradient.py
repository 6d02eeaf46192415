"""Gradients by distance against a product of Jacobians and against differences of the loss."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from remeasure.params.recurrent import RecurrentSpec, recurrent_plan
from remeasure.recurrent.gradient import Reach, gradient_norms, reach
from remeasure.recurrent.models import build_model

VOCABULARY = 17
TINY = 1e-9
"""Embeddings this small leave tanh at its slope of one."""


def linear_rnn(hidden, length):
    """An RNN without biases on inputs so small that it is linear, and a window of other tokens."""
    torch.manual_seed(2)
    spec = RecurrentSpec(cell="rnn", d_model=8, d_hidden=hidden, context=length)
    model = build_model(spec, VOCABULARY).double()
    cell = model.blocks[0].sublayers[0].inner.cell
    with torch.no_grad():
        model.embedding.weight *= TINY
        cell.bias_ih_l0.zero_()
        cell.bias_hh_l0.zero_()
    return model, cell


def test_in_the_linear_regime_a_norm_is_that_of_a_power_of_the_matrix():
    hidden, length = 10, 12
    model, cell = linear_rnn(hidden, length)
    ids_BT = torch.randint(VOCABULARY, (3, length))
    next_B = torch.randint(VOCABULARY, (3,))
    found = gradient_norms(model, ids_BT, next_B)
    with torch.no_grad():
        # All states are nearly zero, so the logits are the biases: softmax minus one-hot.
        error_BV = model.output.bias.softmax(0) - F.one_hot(next_B, VOCABULARY)
        way_BH = error_BV @ model.output.weight
        for distance in range(length):
            expected_B = (way_BH @ cell.weight_ih_l0).norm(dim=1)
            torch.testing.assert_close(found[:, distance], expected_B, rtol=1e-6, atol=0)
            way_BH = way_BH @ cell.weight_hh_l0


def test_initial_weights_take_a_gradient_to_one_over_root_three_a_token():
    model, _ = linear_rnn(400, 64)
    ids_BT, next_B = torch.randint(VOCABULARY, (8, 64)), torch.randint(VOCABULARY, (8,))
    decay = reach(model, ids_BT, next_B).decay(63)
    assert decay == pytest.approx(math.sqrt(1 / 3), rel=0.02)


@pytest.mark.parametrize("name", ["rnn", "lstm", "attention"])
def test_a_norm_is_the_steepest_slope_of_the_loss(name, small_params):
    torch.manual_seed(1)
    model = build_model(recurrent_plan(small_params, name).spec, VOCABULARY).double()
    # Every token once, so that its embedding stands at one place of the window.
    ids_BT, next_B = torch.randperm(VOCABULARY)[None, :12], torch.tensor([4])
    found = gradient_norms(model, ids_BT, next_B)[0]

    def loss():
        return F.cross_entropy(model(ids_BT)[:, -1], next_B)

    (grad_VD,) = torch.autograd.grad(loss(), model.embedding.weight)
    for distance in (0, 1, 5, 11):
        token = ids_BT[0, 11 - distance]
        direction_D = grad_VD[token] / grad_VD[token].norm()
        losses = []
        with torch.no_grad():
            for step in (1e-5, -2e-5):
                model.embedding.weight[token] += step * direction_D
                losses.append(loss())
            model.embedding.weight[token] += 1e-5 * direction_D
        slope = float(losses[0] - losses[1]) / 2e-5
        assert float(found[distance]) == pytest.approx(slope, rel=1e-5, abs=1e-10)


def test_windows_do_not_mix_and_the_model_stays_as_it_is(small_params):
    torch.manual_seed(1)
    model = build_model(recurrent_plan(small_params, "lstm").spec, VOCABULARY)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    ids_BT, next_B = torch.randint(VOCABULARY, (4, 12)), torch.randint(VOCABULARY, (4,))
    together = gradient_norms(model, ids_BT, next_B)
    alone = [gradient_norms(model, ids_BT[[row]], next_B[[row]])[0] for row in range(4)]
    torch.testing.assert_close(together, torch.stack(alone), rtol=1e-12, atol=0)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not model.embedding._forward_hooks


def test_a_gradient_too_small_for_float32_is_measured(params):
    torch.manual_seed(0)
    model = build_model(recurrent_plan(params, "rnn").spec, VOCABULARY)
    ids_BT, next_B = torch.randint(VOCABULARY, (2, 128)), torch.tensor([1, 2])
    assert 0 < float(gradient_norms(model, ids_BT, next_B)[:, -1].max()) < 1e-37


def test_medians_and_quartiles_are_those_of_the_windows(small_params):
    torch.manual_seed(1)
    model = build_model(recurrent_plan(small_params, "attention").spec, VOCABULARY)
    ids_BT, next_B = torch.randint(VOCABULARY, (5, 12)), torch.randint(VOCABULARY, (5,))
    found = reach(model, ids_BT, next_B)
    sorted_BT = gradient_norms(model, ids_BT, next_B).sort(0).values
    for place, part in ((1, found.low), (2, found.median), (3, found.high)):
        assert list(part) == pytest.approx(sorted_BT[place].tolist())


@given(st.floats(0.05, 0.99), st.integers(3, 200))
def test_a_geometric_series_has_its_own_factor_and_reach(factor, length):
    norms = [7.0 * factor**distance for distance in range(length)]
    found = Reach(norms, norms, norms)
    far = length - 1
    assert found.decay(far) == pytest.approx(factor)
    assert found.ratio(far) == pytest.approx(factor ** (far - 1))
    steps = math.log(0.01) / math.log(factor)
    if abs(steps - round(steps)) > 1e-6:
        assert found.longest == min(far, 1 + math.floor(steps))


def test_a_reach_ends_at_the_last_distance_that_is_still_reached():
    norms = [9.0, 1.0, 0.001, 0.02, 0.009]
    assert Reach(norms, norms, norms).longest == 3
