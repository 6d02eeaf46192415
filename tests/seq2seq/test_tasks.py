import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_translators import sources

from remeasure.seq2seq.tasks import (
    LETTERS,
    SEPARATOR,
    TASKS,
    random_batches,
    sequences,
    split,
)

STRINGS = st.integers(1, 12).flatmap(
    lambda length: st.lists(
        st.lists(st.integers(0, 25), min_size=length, max_size=length), min_size=1, max_size=4
    )
)


@given(STRINGS)
def test_targets_are_those_of_plain_python(rows):
    source_BS = torch.tensor(rows)
    assert TASKS["copy"](source_BS).tolist() == rows
    assert TASKS["reverse"](source_BS).tolist() == [row[::-1] for row in rows]
    assert TASKS["sort"](source_BS).tolist() == [sorted(row) for row in rows]


@pytest.mark.parametrize("task", TASKS)
@given(rows=STRINGS)
def test_both_halves_are_found_again(task, rows):
    source_BS = torch.tensor(rows)
    ids_BN, next_BN = sequences(task, source_BS)
    found_BS, shifted_BT = split(ids_BN)
    _, target_BT = split(next_BN)
    assert torch.equal(found_BS, source_BS)
    assert torch.equal(target_BT, TASKS[task](source_BS))
    assert (shifted_BT[:, 0] == SEPARATOR).all()
    assert torch.equal(shifted_BT[:, 1:], target_BT[:, :-1])
    assert torch.equal(ids_BN[:, 1:], next_BN[:, :-1])


def test_an_odd_number_of_tokens_is_refused():
    with pytest.raises(ValueError, match="5 tokens"):
        split(torch.zeros(2, 5, dtype=torch.long))


def test_batches_have_all_trained_lengths_and_no_other():
    draw = random_batches("copy", (3, 4, 6), 2, torch.device("cpu"))
    generator = torch.Generator().manual_seed(0)
    widths = {draw(generator)[0].shape for _ in range(100)}
    assert widths == {(2, 2 * length) for length in (3, 4, 5, 6)}


def test_a_seed_decides_the_batches():
    draw = random_batches("sort", (3, 9), 4, torch.device("cpu"))
    one, same, other = (draw(torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert one.shape != other.shape or not torch.equal(one, other)


def test_letters_are_equally_likely():
    counts = sources(100, 260).flatten().bincount(minlength=len(LETTERS))
    assert len(counts) == len(LETTERS)
    assert (counts - 1000).abs().max() < 5 * math.sqrt(1000)
