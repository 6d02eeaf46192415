import pytest
import torch
from torch.nn import functional as F

VOCABULARY = 17
WHOLE = torch.randint(0, VOCABULARY, (5, 12), generator=torch.Generator().manual_seed(1))
HIDDEN = torch.rand(5, 12, generator=torch.Generator().manual_seed(2)) < 0.3
ASKED = WHOLE.masked_fill(HIDDEN, VOCABULARY)


@pytest.mark.parametrize("changes", [{}, {"output_bias": False}, {"tie_embeddings": True}])
def test_the_loss_is_the_mean_over_the_hidden_tokens_alone(model_of, changes):
    model = model_of(**changes)
    logits_BTV = model.model(ASKED)[..., :VOCABULARY]
    ignored_BT = WHOLE.masked_fill(~HIDDEN, -100)
    expected = F.cross_entropy(logits_BTV.flatten(0, 1), ignored_BT.flatten(), ignore_index=-100)
    torch.testing.assert_close(model.loss(ASKED, WHOLE), expected)
    summed = model.summed_loss(ASKED, WHOLE) / HIDDEN.sum()
    torch.testing.assert_close(summed, expected.detach())


def test_its_gradient_is_that_of_torch_s_own_loss(model_of):
    model = model_of()
    model.loss(ASKED, WHOLE).backward()
    ours = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    logits_NV = model.model(ASKED)[HIDDEN][:, :VOCABULARY]
    F.cross_entropy(logits_NV, WHOLE[HIDDEN]).backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(ours[name], parameter.grad, msg=name)


def test_a_hidden_token_cannot_be_seen(model_of):
    model = model_of()
    other = WHOLE.clone()
    other[HIDDEN] = (other[HIDDEN] + 1) % VOCABULARY
    again = other.masked_fill(HIDDEN, VOCABULARY)
    assert torch.equal(model.features(ASKED), model.features(again))


def test_what_follows_is_seen(model_of):
    model = model_of()
    changed = ASKED.clone()
    changed[:, -1] = (changed[:, -1] + 1) % VOCABULARY
    assert (model.features(changed) - model.features(ASKED))[:, 0].abs().min() > 0


def test_the_symbol_is_no_answer(model_of):
    model = model_of()
    with torch.no_grad():
        model.model.output.bias[VOCABULARY] = 100.0
        log_p_BV = model.log_probabilities(ASKED, 3)
    assert log_p_BV.shape == (5, VOCABULARY)
    torch.testing.assert_close(log_p_BV.exp().sum(1), torch.ones(5).double())
