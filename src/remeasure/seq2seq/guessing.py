"""What the best guess gets that never looks at the source: the floor under every token accuracy.

It sees the target's letters so far, as a model under teacher forcing does. Copied and reversed they
tell nothing about the next one. Sorted they tell much: it is rarely far from the last.
"""

import math


def guessed_accuracy(task: str, length: int, letters: int) -> float:
    """Expected share of right letters of the best such guess, for random strings of a length.

    The letters are independent and equally likely, `letters` of them.
    """
    return _sorted(length, letters) if task == "sort" else 1 / letters


def _sorted(length: int, letters: int) -> float:
    """Sums up the chance of the likelier of two guesses, the last letter again or its successor.

    After `below` letters before a letter and `run` of that letter itself, the count of the letter
    among the `length - below` that are left is binomial, given that it is at least `run`; if it is
    no larger, the next letter is the smallest of what remains, likeliest the letter's successor.
    """
    right = _smallest_is_first(length, letters)
    for letter in range(letters):
        larger = letters - letter - 1
        for below in range(length):
            chance_below = _binomial(length, below, letter / letters)
            counts = [
                _binomial(length - below, count, 1 / (letters - letter))
                for count in range(length - below + 1)
            ]
            for run in range(1, length - below):
                again = sum(counts[run + 1 :])
                rest = length - below - run
                successor = counts[run] * _smallest_is_first(rest, larger)
                right += chance_below * max(again, successor)
    return right / length


def _smallest_is_first(count: int, letters: int) -> float:
    """Chance that the first of so many letters is among `count` drawn ones."""
    return 1 - (1 - 1 / letters) ** count if letters else 0.0


def _binomial(trials: int, successes: int, chance: float) -> float:
    return math.comb(trials, successes) * chance**successes * (1 - chance) ** (trials - successes)
