import math

import pytest
import torch
from by_hand import POSITIONS, TOKENS, induction_model, layers, positional_model
from torch.nn import functional as F

from remeasure.induction.baselines import baselines
from remeasure.induction.scores import (
    follows_earlier,
    head_scores,
    layer_weights,
    losses,
    prefix_matching,
    previous_token,
)
from remeasure.induction.sequences import Sequences, draw_sequences
from remeasure.models.build import build

REPEATING = Sequences(torch.tensor([[4, 5, 6, 4, 5, 6, 4]]), torch.tensor([3]))


def heads_looking_at(*places):
    """Weights of one head: from each token, all of it on the place named."""
    return F.one_hot(torch.tensor(places), len(places)).double()[None, None]


def test_followers_are_the_tokens_after_the_same_token():
    found = follows_earlier(torch.tensor([[4, 5, 4, 4, 6, 4]]))[0]
    assert [row.nonzero()[:, 0].tolist() for row in found] == [
        [],
        [],
        [1],
        [1, 3],
        [],
        [1, 3, 4],
    ]


@pytest.mark.parametrize(
    ("places", "matching", "previous"),
    [
        # From the repeats at 3, 4 and 5 an induction head looks at 1, 2 and 3.
        ([0, 0, 0, 1, 2, 3], 1, 1 / 5),
        ([0, 0, 1, 2, 3, 4], 0, 1),
        ([0, 1, 2, 3, 4, 5], 0, 0),
        ([0, 0, 0, 0, 0, 0], 0, 1 / 5),
        ([0, 0, 0, 1, 0, 0], 1 / 3, 1 / 5),
        ([0, 0, 0, 1, 2, 4], 2 / 3, 2 / 5),
    ],
)
def test_scores_of_patterns_made_by_hand(places, matching, previous):
    weights = heads_looking_at(*places)
    assert float(prefix_matching(weights, REPEATING)) == pytest.approx(matching)
    assert float(previous_token(weights)) == pytest.approx(previous)


def test_each_head_has_its_own_scores_and_sequences_are_averaged():
    induction, previous = heads_looking_at(0, 0, 0, 1, 2, 3), heads_looking_at(0, 0, 1, 2, 3, 4)
    sequences = Sequences(REPEATING.ids_BN.repeat(2, 1), REPEATING.period_B.repeat(2))
    both = torch.cat([induction, previous], dim=1)
    weights = torch.cat([both, both.flip(1)])
    assert prefix_matching(weights, sequences).tolist() == pytest.approx([0.5, 0.5])
    assert prefix_matching(both, REPEATING).tolist() == pytest.approx([1, 0])
    assert previous_token(both).tolist() == pytest.approx([0.2, 1])


def test_weight_is_shared_among_all_that_followed():
    sequences = Sequences(torch.tensor([[4, 5, 4, 5, 4, 5]]), torch.tensor([2]))
    weights = torch.zeros(1, 1, 5, 5)
    weights[..., 4, 1] = weights[..., 4, 3] = 0.5
    weights[..., 2, 1] = weights[..., 3, 2] = 1
    assert float(prefix_matching(weights, sequences)) == pytest.approx(1)


def test_layer_weights_are_what_each_layer_computes(small_spec):
    torch.manual_seed(0)
    spec = small_spec.model_copy(update={"n_blocks": 2, "ffn": "none", "pos": "rope"})
    model = build(spec, 9).double()
    read = torch.randint(9, (3, 12))
    inputs = []
    for layer in layers(model):
        layer.register_forward_pre_hook(lambda module, args: inputs.append((module, args[0])))
    model(read)
    with torch.no_grad():
        found = layer_weights(model, read)
    assert len(found) == 2
    for weights, (layer, x) in zip(found, inputs[:2], strict=True):
        query, key, _ = layer.project(x, None)
        scores = torch.einsum("bhtk,bhsk->bhts", query, key) / layer.head_width**0.5
        scores = scores.masked_fill(torch.ones(12, 12).triu(1).bool(), -math.inf)
        torch.testing.assert_close(weights, scores.softmax(-1))


def test_losses_are_those_of_each_place(small_spec):
    torch.manual_seed(0)
    model = build(small_spec, 9).double()
    sequences = draw_sequences(5, 13, 9, (3, 7), torch.Generator().manual_seed(0))
    with torch.no_grad():
        probabilities = model(sequences.read_BT).softmax(-1)
    new, repeats, right = [], [], []
    for row, period in enumerate(sequences.period_B.tolist()):
        for place in range(12):
            wanted = int(sequences.ids_BN[row, place + 1])
            loss = -math.log(probabilities[row, place, wanted])
            if place + 1 < period:
                new.append(loss)
            if place >= period:
                repeats.append(loss)
                right.append(int(probabilities[row, place].argmax()) == wanted)
    found = losses(model, sequences)
    assert found["new_loss"] == pytest.approx(sum(new) / len(new))
    assert found["repeat_loss"] == pytest.approx(sum(repeats) / len(repeats))
    assert found["repeat_accuracy"] == sum(right) / len(right)


def test_two_layers_by_hand_predict_every_repeat(small_spec, distinct):
    model = induction_model(small_spec)
    found = losses(model, distinct)
    assert found["repeat_accuracy"] == 1
    assert found["repeat_loss"] < 1e-10
    assert baselines(distinct, TOKENS)["one_token_match_loss"] == 0
    scores = head_scores(model, distinct)
    assert scores["previous_token_layer1_head1"] == pytest.approx(1)
    assert scores["prefix_matching_layer2_head1"] == pytest.approx(1)
    assert scores["prefix_matching_layer1_head1"] < 0.05


def test_one_layer_predicts_by_position_alone_where_there_is_a_single_period(small_spec, distinct):
    model = positional_model(small_spec, period=10)
    generator = torch.Generator().manual_seed(0)
    single = draw_sequences(40, POSITIONS + 1, TOKENS, (10, 10), generator)
    assert losses(model, single)["repeat_accuracy"] == 1
    assert losses(model, single)["repeat_loss"] < 1e-10
    of_ten = (distinct.period_B == 10).double().mean()
    assert losses(model, distinct)["repeat_accuracy"] < 0.3 + of_ten


def test_a_model_comes_back_in_the_mode_it_was_in(small_spec, distinct):
    spec = small_spec.model_copy(update={"dropout": 0.9, "context": POSITIONS})
    model = build(spec, TOKENS)
    for mode in (True, False):
        model.train(mode)
        assert losses(model, distinct) == losses(model, distinct), "no dropout while evaluated"
        assert head_scores(model, distinct) == head_scores(model, distinct)
        assert model.training is mode
