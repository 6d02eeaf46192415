"""Which noun pairs are never trained on, though their reversed order is, if it can occur."""

from dataclasses import dataclass

import torch

from remeasure.referent.language import Language, Pair
from remeasure.training.seeds import generator


@dataclass(frozen=True)
class Split:
    """The pairs of a language, parted. Raises ValueError for a pair that stands on both sides."""

    training: tuple[Pair, ...]
    held_out: tuple[Pair, ...]

    def __post_init__(self) -> None:
        leaked = sorted(set(self.training) & set(self.held_out))
        if leaked:
            raise ValueError(f"held-out pairs among those of training: {leaked}")


def split_pairs(language: Language, held_out: float, seed: int) -> Split:
    """Hold out the share `held_out` of the pairs, rounded down, drawn with `seed`.

    Of two pairs that are each other's reverse at most one is held out, so whoever knows only which
    two nouns are there has learned the opposite answer. With a share of at most a half there are
    always enough of them.
    """
    pairs = language.pairs()
    order = torch.randperm(len(pairs), generator=generator(seed, "referent split")).tolist()
    chosen: set[Pair] = set()
    for crosser, crossed in (pairs[index] for index in order):
        if len(chosen) < int(held_out * len(pairs)) and (crossed, crosser) not in chosen:
            chosen.add((crosser, crossed))
    return Split(
        training=tuple(pair for pair in pairs if pair not in chosen),
        held_out=tuple(pair for pair in pairs if pair in chosen),
    )
