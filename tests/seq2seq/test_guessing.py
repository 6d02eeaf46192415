"""The best guess without the source, against every string there is."""

from collections import Counter, defaultdict
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remeasure.seq2seq.guessing import guessed_accuracy
from remeasure.seq2seq.tasks import TASKS

ANSWERS = {
    "copy": lambda string: string,
    "reverse": lambda string: string[::-1],
    "sort": lambda string: tuple(sorted(string)),
}


def counted(task: str, length: int, letters: int) -> float:
    """Share of letters right if the most frequent one after each beginning is guessed."""
    following: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for string in product(range(letters), repeat=length):
        answer = ANSWERS[task](string)
        for place, letter in enumerate(answer):
            following[answer[:place]][letter] += 1
    right = sum(max(counts.values()) for counts in following.values())
    return right / letters**length / length


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("length", "letters"), [(1, 3), (4, 3), (5, 2), (3, 4), (6, 4), (3, 1)])
def test_the_formula_counts_right(task: str, length: int, letters: int) -> None:
    expected = counted(task, length, letters)
    assert guessed_accuracy(task, length, letters) == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 20), st.integers(1, 26))
def test_what_is_sorted_is_guessed_best_and_never_surely(length: int, letters: int) -> None:
    blind, sorted_ = (guessed_accuracy(task, length, letters) for task in ("copy", "sort"))
    assert blind == 1 / letters
    assert blind - 1e-12 <= sorted_ <= 1 + 1e-12
    assert sorted_ <= guessed_accuracy("sort", length + 1, letters) + 1e-12
