import pytest
import torch

from remeasure.data.batches import side_by_side
from remeasure.data.spaced import spaced_windows
from remeasure.errors import UserError

TEXT = torch.arange(61)


def test_all_windows_are_the_whole_ones_side_by_side():
    ids_BT, next_BT = spaced_windows(TEXT, 7)
    pairs = [pair for pair in side_by_side(TEXT, 7, 3) if pair[0].shape[1] == 7]
    assert torch.equal(ids_BT, torch.cat([ids for ids, _ in pairs]))
    assert torch.equal(next_BT, torch.cat([following for _, following in pairs]))


@pytest.mark.parametrize("count", [8, 9, 1000])
def test_more_windows_than_there_are_is_all(count):
    assert torch.equal(spaced_windows(TEXT, 7, count)[0], spaced_windows(TEXT, 7)[0])


def test_some_windows_are_spread_evenly_from_the_first():
    ids_BT, _ = spaced_windows(TEXT, 6, 4)
    assert ids_BT[:, 0].tolist() == [0, 12, 30, 42]


def test_a_text_without_a_whole_window_is_refused():
    with pytest.raises(UserError, match="7 held-out tokens are too few for windows of 7"):
        spaced_windows(TEXT[:7], 7)
