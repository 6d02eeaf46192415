"""PyTorch's cells against their equations, in float64, and their size against one block's."""

import pytest
import torch
from torch.nn import functional as F

from remeasure.models.cache import ModelCache
from remeasure.models.parts import parameter_count
from remeasure.params.recurrent import RecurrentSpec, recurrent_plan
from remeasure.recurrent.models import build_model, sequential_steps

VOCABULARY, WIDTH, HIDDEN, LENGTH = 17, 8, 6, 9
MATCHED = 0.015


def model_of(cell):
    torch.manual_seed(3)
    spec = RecurrentSpec(cell=cell, d_model=WIDTH, d_hidden=HIDDEN, context=LENGTH)
    return build_model(spec, VOCABULARY).double()


def cell_of(model):
    return model.blocks[0].sublayers[0].inner.cell


@pytest.fixture
def ids():
    return torch.randint(VOCABULARY, (4, LENGTH), generator=torch.Generator().manual_seed(0))


def rnn_states(cell, x_BTD):
    h_BH = x_BTD.new_zeros(len(x_BTD), HIDDEN)
    states = []
    for x_BD in x_BTD.unbind(1):
        from_input = x_BD @ cell.weight_ih_l0.T + cell.bias_ih_l0
        h_BH = torch.tanh(from_input + h_BH @ cell.weight_hh_l0.T + cell.bias_hh_l0)
        states.append(h_BH)
    return torch.stack(states, 1)


def lstm_states(cell, x_BTD):
    h_BH = c_BH = x_BTD.new_zeros(len(x_BTD), HIDDEN)
    states = []
    for x_BD in x_BTD.unbind(1):
        from_input = x_BD @ cell.weight_ih_l0.T + cell.bias_ih_l0
        gates = from_input + h_BH @ cell.weight_hh_l0.T + cell.bias_hh_l0
        enter, forget, candidate, leave = gates.split(HIDDEN, dim=1)
        c_BH = torch.sigmoid(forget) * c_BH + torch.sigmoid(enter) * torch.tanh(candidate)
        h_BH = torch.sigmoid(leave) * torch.tanh(c_BH)
        states.append(h_BH)
    return torch.stack(states, 1)


STATES = {"rnn": rnn_states, "lstm": lstm_states}


@pytest.mark.parametrize("cell", STATES)
def test_a_cell_computes_its_equations(cell, ids):
    model = model_of(cell)
    expected = STATES[cell](cell_of(model), model.embedding(ids))
    torch.testing.assert_close(model.features(ids), expected, rtol=1e-12, atol=1e-14)
    logits = expected @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(model(ids), logits, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("cell", STATES)
def test_the_gradients_are_those_of_the_equations(cell, ids):
    model = model_of(cell)
    names = [name for name, _ in cell_of(model).named_parameters()]
    model.loss(ids, ids.roll(1, 1)).backward()
    ours = [cell_of(model).get_parameter(name).grad.clone() for name in names]
    model.zero_grad()
    states = STATES[cell](cell_of(model), model.embedding(ids))
    F.cross_entropy(model.output(states).flatten(0, 1), ids.roll(1, 1).flatten()).backward()
    for name, grad in zip(names, ours, strict=True):
        expected = cell_of(model).get_parameter(name).grad
        torch.testing.assert_close(grad, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("cell", STATES)
def test_no_token_sees_one_after_it_and_all_see_the_first(cell, ids):
    model = model_of(cell)
    for place in range(LENGTH):
        changed = ids.clone()
        changed[:, place] = (changed[:, place] + 1) % VOCABULARY
        differs = (model(changed) != model(ids)).any(-1).all(0)
        assert differs.tolist() == [later >= place for later in range(LENGTH)]


@pytest.mark.parametrize("name", ["rnn", "lstm", "attention"])
def test_every_run_has_as_many_parameters_as_one_block(name, params):
    one_block = 477_696
    built = parameter_count(build_model(recurrent_plan(params, name).spec, 1024))
    assert abs(built / one_block - 1) < MATCHED
    # A shortage could not explain a worse perplexity.
    assert built >= one_block


@pytest.mark.parametrize(("cell", "matrices"), [("rnn", 1), ("lstm", 4)])
def test_parameters_are_those_of_the_formula(cell, matrices):
    ends = VOCABULARY * WIDTH + VOCABULARY * HIDDEN + VOCABULARY
    expected = ends + matrices * HIDDEN * (WIDTH + HIDDEN + 2)
    assert parameter_count(model_of(cell)) == expected


def test_a_hidden_state_waits_for_every_one_before_it(params):
    steps = {
        name: [sequential_steps(recurrent_plan(params, name).spec, length) for length in (32, 64)]
        for name in ("rnn", "lstm", "attention")
    }
    assert steps == {"rnn": [32, 64], "lstm": [32, 64], "attention": [1, 1]}


def test_a_cache_is_refused(ids):
    with pytest.raises(ValueError, match="not kept in a cache"):
        model_of("lstm")(ids, ModelCache(1, LENGTH))
