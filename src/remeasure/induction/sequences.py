"""Random tokens that repeat themselves: nothing predicts them but their own earlier occurrence.

A segment is drawn and written down again and again until the sequence is full, so that token t is
token t - P for every t from the period P on. The period differs from sequence to sequence: with a
single one, a head that always looks back equally far would predict every repeat by position alone.

Shapes: B sequences, N tokens of a sequence, T = N - 1 of them read by a model.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from remeasure.data.batches import Draw


@dataclass(frozen=True)
class Sequences:
    """Whole sequences with the period of each."""

    ids_BN: Tensor
    period_B: Tensor

    def to(self, device: torch.device) -> "Sequences":
        """The same on another device."""
        return Sequences(self.ids_BN.to(device), self.period_B.to(device))

    @property
    def read_BT(self) -> Tensor:
        """What a model reads: all tokens but the last."""
        return self.ids_BN[:, :-1]

    @property
    def next_BT(self) -> Tensor:
        """What it is to predict: all tokens but the first."""
        return self.ids_BN[:, 1:]

    @property
    def next_is_new_BT(self) -> Tensor:
        """True where the token to be predicted belongs to the first occurrence of the segment."""
        return self._place_T + 1 < self.period_B[:, None]

    @property
    def is_repeat_BT(self) -> Tensor:
        """True where the token read is a repeat: it stood here before, and so did its follower.

        Between the two kinds lies one token a sequence: the first of the second occurrence, which
        nothing announces. It counts for neither.
        """
        return self._place_T >= self.period_B[:, None]

    @property
    def _place_T(self) -> Tensor:
        return torch.arange(self.ids_BN.shape[1] - 1, device=self.ids_BN.device)


def draw_sequences(
    n_sequences: int,
    n_tokens: int,
    vocab_size: int,
    periods: tuple[int, int],
    generator: torch.Generator,
) -> Sequences:
    """Sequences of `n_tokens`, each with a period from the first to the second of `periods`.

    Tokens are drawn uniformly and with replacement, periods uniformly.
    """
    shortest, longest = periods
    segment_BP = torch.randint(vocab_size, (n_sequences, longest), generator=generator)
    period_B = torch.randint(shortest, longest + 1, (n_sequences,), generator=generator)
    place_BN = torch.arange(n_tokens) % period_B[:, None]
    return Sequences(segment_BP.gather(1, place_BN), period_B)


def random_sequences(
    batch_size: int,
    n_tokens: int,
    vocab_size: int,
    periods: tuple[int, int],
    device: torch.device,
) -> Draw:
    """Batches for training: new sequences every time, so that none is ever seen twice."""

    def draw(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        drawn = draw_sequences(batch_size, n_tokens, vocab_size, periods, generator).to(device)
        return drawn.read_BT, drawn.next_BT

    return draw
