import pytest
import torch
from torch import nn

from remeasure.models.mixers import UniformAverage
from remeasure.referent.language import ASKED, LANGUAGES, TOKEN_OF, VOCABULARY, sentences
from remeasure.referent.scoring import questions, score

TEXTS = sentences(LANGUAGES["pool"].pairs()[:5])


class Answers(nn.Module):
    """Gives its words these logits after the last visible word; after the others, anything."""

    def __init__(self, words_of):
        super().__init__()
        self.words_of = words_of

    def forward(self, ids):
        assert ids.shape == (len(TEXTS), ASKED + 1)
        logits = torch.randn(*ids.shape, len(VOCABULARY))
        logits[:, -1] = 0
        for row, text in enumerate(TEXTS):
            for word, logit in self.words_of(text).items():
                logits[row, -1, TOKEN_OF[word]] = logit
        return logits


@pytest.mark.parametrize(
    ("words_of", "accuracy", "among_present", "wrong"),
    [
        (lambda text: {text.referent: 2, text.other: 1}, 1, 1, 0),
        (lambda text: {text.referent: 1, text.other: 2}, 0, 0, 1),
        (lambda text: {"waited": 3, text.referent: 2, text.other: 1}, 0, 1, 0),
        (lambda text: {"waited": 3, text.referent: 1, text.other: 2}, 0, 0, 0),
        (lambda text: {"waited": 3}, 0, 0, 0),
        (lambda text: {text.pair[0]: 1}, 0.5, 0.5, 0.5),
    ],
)
def test_shares_of_known_answers(words_of, accuracy, among_present, wrong):
    assert score(Answers(words_of), questions(TEXTS)) == {
        "accuracy": accuracy,
        "accuracy_among_present": among_present,
        "wrong_noun": wrong,
    }


def test_an_order_blind_model_cannot_be_right_both_ways_round():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Embedding(len(VOCABULARY), 8, dtype=torch.float64),
        UniformAverage(causal=True),
        nn.Linear(8, len(VOCABULARY), dtype=torch.float64),
    )
    both_ways = sentences([("fox", "river"), ("river", "fox")])
    found = score(model, questions(both_ways))
    assert found["accuracy_among_present"] == 0.5
    assert found["accuracy"] == found["wrong_noun"]


def test_a_model_comes_back_in_the_mode_it_was_in():
    model = Answers(lambda text: {text.referent: 1})
    modes = []
    model.register_forward_hook(lambda *_: modes.append(model.training))
    score(model.train(), questions(TEXTS))
    assert model.training
    score(model.eval(), questions(TEXTS))
    assert not model.training
    assert modes == [False, False]
