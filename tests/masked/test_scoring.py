import math

import pytest
import torch

from remeasure.masked.scoring import baseline, filled_in

VOCABULARY = 17
WHOLE = torch.randint(0, VOCABULARY, (40, 12), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_scores_are_those_of_torch_s_own_loss(model_of, share):
    model = model_of()
    found = filled_in(model, WHOLE, share, seed=0)
    asked = []
    model.model.register_forward_pre_hook(lambda module, args: asked.append(args[0]))
    model.features = lambda ids_BT: (asked.append(ids_BT), model.model.features(ids_BT))[1]
    filled_in(model, WHOLE, share, seed=0)
    asked_BT = torch.cat(asked)
    hidden_BT = asked_BT == VOCABULARY
    assert hidden_BT.sum(1).unique().tolist() == [max(1, round(share * 12))]
    logits_NV = model.model(asked_BT)[hidden_BT][:, :VOCABULARY]
    expected = torch.nn.functional.cross_entropy(logits_NV, WHOLE[hidden_BT])
    assert found["loss"] == pytest.approx(expected.item())
    assert found["perplexity"] == pytest.approx(math.exp(expected.item()))
    right = (logits_NV.argmax(1) == WHOLE[hidden_BT]).double().mean()
    assert found["accuracy"] == pytest.approx(float(right))


def test_the_places_are_the_same_for_every_model_and_the_mode_is_kept(model_of):
    one, other = model_of(), model_of(n_blocks=2)
    one.train()
    places = []
    for model in (one, other):
        features = model.features
        model.features = lambda ids, of=features: (places.append(ids == VOCABULARY), of(ids))[1]
        filled_in(model, WHOLE, 0.3, seed=4)
    assert torch.equal(places[0], places[1])
    assert one.training
    assert not other.training


def test_a_baseline_counted_by_hand():
    train_N = torch.tensor([0, 0, 0, 1, 1, 2])
    found = baseline(train_N, torch.tensor([0, 1, 1, 3]), 4)
    assert found["accuracy"] == 0.25
    p = [4 / 10, 3 / 10, 3 / 10, 1 / 10]
    assert found["perplexity"] == pytest.approx((p[0] * p[1] * p[2] * p[3]) ** -0.25)
    own = 0.25 * math.log(4) + 0.5 * math.log(2) + 0.25 * math.log(4)
    assert found["perplexity_bound"] == pytest.approx(math.exp(own))


def test_no_fixed_distribution_is_below_the_bound():
    generator = torch.Generator().manual_seed(0)
    asked_N = torch.randint(0, 9, (200,), generator=generator)
    for _ in range(5):
        train_N = torch.randint(0, 9, (30,), generator=generator)
        found = baseline(train_N, asked_N, 9)
        assert found["perplexity"] > found["perplexity_bound"]
