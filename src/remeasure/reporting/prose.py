"""Sentences whose numbers, and whose words for better and worse, come from the records."""

from collections.abc import Callable
from typing import TypeVar

from remeasure.figures.words import fixed
from remeasure.records.results import Spread

A = TypeVar("A")

MARKED = "Dots and bars: mean and standard deviation of our seeds."
BANDS = "Lines: mean of our seeds; bands: from the lowest to the highest."
DIAMONDS = "Diamonds: the chapter."


def told(make: Callable[..., str], *values: object) -> str | None:
    """The sentence that `make` forms from the values; None if one of them is not measured."""
    return None if any(value is None for value in values) else make(*values)


def ppl(found: Spread) -> str:
    """A perplexity."""
    return fixed(found.mean, 2 if found.mean < 100 else 0)


def points(difference: float) -> str:
    """A difference in perplexity, as large as it is, without its sign."""
    digits = 1 if abs(difference) < 100 else 0
    size = fixed(abs(difference), digits)
    return f"{size} {'point' if size == '1.0' else 'points'}"


def buys(gain: float) -> str:
    """What a change does to the perplexity, gained if positive."""
    return f"{'buys' if gain > 0 else 'costs'} {points(gain)}"


def lower(ours: float, other: float, words: tuple[str, str] = ("below", "above")) -> str:
    """The first word if `ours` is the lower number, else the second."""
    return words[0] if ours < other else words[1]


def times(ratio: float) -> str:
    """How many times as large."""
    return f"{fixed(ratio, 1)} times"
