"""Windows: every token once in evaluation, all starts in training."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from remeasure.data.batches import RandomWindows, side_by_side


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
    windows = RandomWindows(torch.arange(20), 4, 50, torch.Generator().manual_seed(0))
    starts = set()
    for _ in range(20):
        inputs, targets = windows.draw()
        assert torch.equal(inputs + 1, targets)
        assert torch.equal(inputs, inputs[:, :1] + torch.arange(4))
        starts |= set(inputs[:, 0].tolist())
    assert starts == set(range(16))


def test_a_text_shorter_than_a_window_is_refused() -> None:
    with pytest.raises(ValueError, match="4 tokens are too few for windows of 4"):
        RandomWindows(torch.arange(4), 4, 1, torch.Generator())
