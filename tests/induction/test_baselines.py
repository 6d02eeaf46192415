import math

import pytest
import torch

from remeasure.induction.baselines import baselines, one_token_match_loss, tokens_seen_loss
from remeasure.induction.sequences import Sequences, draw_sequences

UNLIKE = Sequences(torch.tensor([[4, 5, 6, 4, 5, 6, 4]]), torch.tensor([3]))
ALIKE = Sequences(torch.tensor([[4, 5, 4, 6, 4, 5, 4, 6]]), torch.tensor([4]))


def test_without_chance_repetitions_all_tokens_of_the_segment_were_seen():
    assert tokens_seen_loss(UNLIKE) == pytest.approx(math.log(3))
    assert one_token_match_loss(UNLIKE) == 0


def test_a_token_that_stands_twice_in_the_segment_leaves_a_doubt():
    assert tokens_seen_loss(ALIKE) == pytest.approx(math.log(3))
    # After 4 came 5, 6: a half; after 5 came 4; after the third 4 came 5, 6 and 5.
    expected = (math.log(2) + 0 + math.log(3)) / 3
    assert one_token_match_loss(ALIKE) == pytest.approx(expected)


def test_how_many_tokens_are_seen_is_what_chance_expects():
    period, vocab = 20, 64
    drawn = draw_sequences(4000, 41, vocab, (period, period), torch.Generator().manual_seed(0))
    # The mean logarithm is a little below the logarithm of the mean number (Jensen).
    mean_number = vocab * (1 - (1 - 1 / vocab) ** period)
    assert math.log(mean_number) - 0.01 < tokens_seen_loss(drawn) < math.log(mean_number)


@pytest.mark.parametrize("n_tokens", [13, 65])
def test_uniform_attention_has_scores_in_closed_form(n_tokens):
    period, read = 6, n_tokens - 1
    segment = torch.stack([torch.randperm(50)[:period] for _ in range(3)])
    ids = segment[:, torch.arange(n_tokens) % period]
    found = baselines(Sequences(ids, torch.full((3,), period)), 50)
    assert found["uniform_loss"] == math.log(50)
    previous = sum(1 / (place + 1) for place in range(1, read)) / (read - 1)
    assert found["uniform_previous_token"] == pytest.approx(previous)
    matching = sum(place // period / (place + 1) for place in range(period, read))
    assert found["uniform_prefix_matching"] == pytest.approx(matching / (read - period))
