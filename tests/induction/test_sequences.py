import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from remeasure.induction.sequences import Sequences, draw_sequences, random_sequences


def drawn(seed=0, n=50, n_tokens=30, vocab=1000, periods=(3, 12)):
    return draw_sequences(n, n_tokens, vocab, periods, torch.Generator().manual_seed(seed))


@given(seed=st.integers(0, 1000), shortest=st.integers(2, 10), more=st.integers(0, 15))
def test_a_token_is_the_one_a_period_before(seed, shortest, more):
    sequences = drawn(seed, periods=(shortest, shortest + more))
    for ids, period in zip(sequences.ids_BN, sequences.period_B.tolist(), strict=True):
        assert shortest <= period <= shortest + more
        assert torch.equal(ids[period:], ids[:-period])


def test_the_periods_of_a_batch_differ_and_all_occur():
    assert set(drawn(n=400).period_B.tolist()) == set(range(3, 13))
    assert set(drawn(periods=(5, 5)).period_B.tolist()) == {5}


def test_tokens_of_a_segment_are_uniform_and_independent():
    sequences = drawn(n=20_000, n_tokens=4, vocab=3, periods=(4, 4))
    codes = (sequences.ids_BN * torch.tensor([27, 9, 3, 1])).sum(1)
    counts = torch.bincount(codes, minlength=81).double()
    expected = 20_000 / 81
    chi_squared = float(((counts - expected) ** 2 / expected).sum())
    assert chi_squared < 125, "the 99.9 % quantile with 80 degrees of freedom is 124.8"


def test_what_is_new_and_what_repeats():
    sequences = Sequences(torch.tensor([[7, 8, 9, 7, 8, 9, 7]]), torch.tensor([3]))
    assert sequences.read_BT.tolist() == [[7, 8, 9, 7, 8, 9]]
    assert sequences.next_BT.tolist() == [[8, 9, 7, 8, 9, 7]]
    assert sequences.next_is_new_BT.tolist() == [[True, True, False, False, False, False]]
    assert sequences.is_repeat_BT.tolist() == [[False, False, False, True, True, True]]


@given(seed=st.integers(0, 1000))
def test_each_place_but_one_is_new_or_a_repeat(seed):
    sequences = drawn(seed)
    new, repeat = sequences.next_is_new_BT, sequences.is_repeat_BT
    assert not (new & repeat).any()
    assert ((~new & ~repeat).sum(1) == 1).all()


def test_training_draws_other_sequences_every_time_and_the_same_for_a_seed():
    draw = random_sequences(4, 13, 50, (2, 6), torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    (read, following), (other, _) = draw(generator), draw(generator)
    assert read.shape == following.shape == (4, 12)
    assert torch.equal(read[:, 1:], following[:, :-1])
    assert not torch.equal(read, other)
    assert torch.equal(read, draw(torch.Generator().manual_seed(1))[0])


def test_the_longest_period_must_be_drawn_from_the_whole_segment():
    sequences = drawn(n=2000, n_tokens=12, periods=(12, 12))
    assert len(sequences.ids_BN.unique()) == 1000
    with pytest.raises(RuntimeError):
        drawn(periods=(8, 6))
