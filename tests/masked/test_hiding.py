import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from remeasure.masked.hiding import hidden, hide, masked_windows


@settings(max_examples=50, deadline=None)
@given(
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    length=st.integers(1, 40),
    seed=st.integers(0, 1000),
)
def test_each_window_hides_its_share_and_at_least_one_token(shares, length, seed):
    generator = torch.Generator().manual_seed(seed)
    hidden_BT = hidden(torch.tensor(shares, dtype=torch.float64), length, generator)
    expected = [max(1, round(share * length)) for share in shares]
    assert hidden_BT.sum(1).tolist() == expected


def test_every_place_is_hidden_equally_often():
    generator = torch.Generator().manual_seed(0)
    hidden_BT = hidden(torch.full((20000,), 0.25), 12, generator)
    # Four standard deviations of a share of 20,000 draws.
    assert (hidden_BT.double().mean(0) - 0.25).abs().max() < 4 * (0.25 * 0.75 / 20000) ** 0.5


def test_hiding_puts_the_symbol_and_leaves_the_rest():
    ids_BT = torch.tensor([[3, 1, 4], [1, 5, 9]])
    hidden_BT = torch.tensor([[False, True, False], [True, False, False]])
    assert hide(ids_BT, hidden_BT, 17).tolist() == [[3, 17, 4], [17, 5, 9]]
    assert ids_BT.tolist() == [[3, 1, 4], [1, 5, 9]]


@pytest.mark.parametrize("share", [(0.15, 0.15), (0.0, 1.0)])
def test_a_batch_is_windows_of_the_text_with_a_share_hidden(share):
    text_N = torch.arange(500) % 17
    draw = masked_windows(text_N, 20, 64, share, 17)
    asked_BT, whole_BT = draw(torch.Generator().manual_seed(0))
    assert torch.equal((whole_BT[:, 1:] - whole_BT[:, :-1]) % 17, torch.ones(64, 19).long())
    assert torch.equal(asked_BT[asked_BT != 17], whole_BT[asked_BT != 17])
    counts = (asked_BT == 17).sum(1)
    assert counts.min() >= max(1, 20 * share[0])
    assert len(counts.unique()) == 1 if share[0] == share[1] else len(counts.unique()) > 10


def test_the_same_generator_gives_the_same_batch():
    draw = masked_windows(torch.arange(500) % 17, 20, 4, (0.0, 1.0), 17)
    first, again = (draw(torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
