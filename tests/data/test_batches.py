"""Windows: every token once in evaluation, all starts in training."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from remeasure.data.batches import random_rows, random_windows, side_by_side


@given(length=st.integers(2, 200), context=st.integers(1, 50), batch=st.integers(1, 7))
def test_side_by_side_predicts_every_token_but_the_first_once(
    length: int, context: int, batch: int
) -> None:
    pairs = list(side_by_side(torch.arange(length), context, batch))
    targets = torch.cat([targets.flatten() for _, targets in pairs])
    assert targets.tolist() == list(range(1, length))
    for inputs, following in pairs:
        assert torch.equal(inputs + 1, following)
        assert inputs.shape[0] <= batch
        assert inputs.shape[1] <= context


def test_random_windows_are_windows_of_the_text_at_every_start() -> None:
    draw, generator = random_windows(torch.arange(20), 4, 50), torch.Generator().manual_seed(0)
    starts = set()
    for _ in range(20):
        inputs, targets = draw(generator)
        assert torch.equal(inputs + 1, targets)
        assert torch.equal(inputs, inputs[:, :1] + torch.arange(4))
        starts |= set(inputs[:, 0].tolist())
    assert starts == set(range(16))


def test_a_text_shorter_than_a_window_is_refused() -> None:
    with pytest.raises(ValueError, match="4 tokens are too few for windows of 4"):
        random_windows(torch.arange(4), 4, 1)


def test_random_rows_are_whole_rows_and_all_of_them_come() -> None:
    rows = torch.arange(12).view(4, 3)
    inputs, targets = random_rows(rows, 100)(torch.Generator().manual_seed(0))
    drawn = torch.cat([inputs, targets[:, -1:]], dim=1)
    assert {tuple(row) for row in drawn.tolist()} == {tuple(row) for row in rows.tolist()}
    assert torch.equal(inputs[:, 1:], targets[:, :-1])


def test_the_generator_alone_decides_what_is_drawn() -> None:
    draw = random_rows(torch.arange(1000).view(100, 10), 8)
    first, again, other = (draw(torch.Generator().manual_seed(seed))[0] for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
