"""Two little languages of one sentence form, in which one adjective decides which noun is meant.

In `category` animals cross and places are crossed, so whoever knows which words are there knows the
answer. In `pool` any noun may stand in either slot, so that only their order tells.
Section: what one head does. Shapes: N sentences, L words of a whole sentence.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

SENTENCE = "the {x} did not cross the {y} because it was too {adj} , so the {ref} waited ."
FRAME = SENTENCE.split()
LENGTH = len(FRAME)

FIRST_NOUN = FRAME.index("{x}")
SECOND_NOUN = FRAME.index("{y}")
ADJECTIVE = FRAME.index("{adj}")
REFERENT = FRAME.index("{ref}")
"""Places in the sentence, counted from 0."""
ASKED = REFERENT - 1
"""The last visible word, where the next one has to be the referent."""

CROSSER_ADJECTIVES = ("tired", "scared", "slow", "weak")
CROSSED_ADJECTIVES = ("wet", "wide", "busy", "steep")
ADJECTIVES = CROSSER_ADJECTIVES + CROSSED_ADJECTIVES

ANIMALS = ("animal", "bear", "deer", "dog", "fox", "goat", "horse", "wolf")
PLACES = ("street", "bridge", "canal", "field", "meadow", "river", "square", "valley")

Pair = tuple[str, str]
"""The noun that crosses and the noun that is crossed."""

EXAMPLE: Pair = ("animal", "street")


@dataclass(frozen=True)
class Language:
    """The nouns that may cross and those that may be crossed."""

    crossers: tuple[str, ...]
    crossed: tuple[str, ...]

    def pairs(self) -> list[Pair]:
        """Every ordered pair of two different nouns."""
        return [(x, y) for x in self.crossers for y in self.crossed if x != y]


LANGUAGES = {
    "category": Language(ANIMALS, PLACES),
    "pool": Language(ANIMALS + PLACES, ANIMALS + PLACES),
}

VOCABULARY = tuple(
    sorted({*ANIMALS, *PLACES, *ADJECTIVES, *(word for word in FRAME if "{" not in word)})
)
"""One token a word, the same for both languages."""
TOKEN_OF = {word: token for token, word in enumerate(VOCABULARY)}


@dataclass(frozen=True)
class Sentence:
    """A pair and an adjective; which of the two nouns is meant follows."""

    pair: Pair
    adjective: str

    @property
    def referent(self) -> str:
        """The noun that is meant: the crosser for the first four adjectives, else the crossed."""
        return self.pair[self.adjective in CROSSED_ADJECTIVES]

    @property
    def other(self) -> str:
        """The noun of the pair that is not meant."""
        return self.pair[self.adjective in CROSSER_ADJECTIVES]

    @property
    def words(self) -> list[str]:
        """All words of the sentence, `LENGTH` of them."""
        x, y = self.pair
        return [word.format(x=x, y=y, adj=self.adjective, ref=self.referent) for word in FRAME]


def sentences(pairs: Iterable[Pair]) -> list[Sentence]:
    """Each pair with each of the eight adjectives."""
    return [Sentence(pair, adjective) for pair in pairs for adjective in ADJECTIVES]


def encode(texts: Iterable[Sentence]) -> Tensor:
    """Token ids of whole sentences, [N, L]."""
    return torch.tensor([[TOKEN_OF[word] for word in text.words] for text in texts])
