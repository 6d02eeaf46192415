"""Copy, reverse, sort: strings of letters whose right answer is known.

A batch holds whole sequences, source | separator | target, all of one length, so that nothing is
padded. Shapes: B strings, S source letters, T target letters (as many), N = 2S tokens of a sequence
without its last.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from remeasure.data.batches import Draw

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SEPARATOR = len(LETTERS)
"""Ends the source and starts the target. No target holds it."""
VOCABULARY_SIZE = len(LETTERS) + 1

TASKS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "copy": lambda source_BS: source_BS,
    "reverse": lambda source_BS: source_BS.flip(-1),
    "sort": lambda source_BS: source_BS.sort(-1).values,
}
"""The right answer to a batch of sources, [B, S] to [B, T]."""


def random_sources(length: int, count: int, generator: torch.Generator) -> Tensor:
    """Strings whose letters are independent and equally likely, [B, S]."""
    return torch.randint(len(LETTERS), (count, length), generator=generator)


def sequences(task: str, source_BS: Tensor) -> tuple[Tensor, Tensor]:
    """Source | separator | target without its last token, and without its first: [B, N] twice."""
    separator_B1 = torch.full_like(source_BS[:, :1], SEPARATOR)
    whole = torch.cat([source_BS, separator_B1, TASKS[task](source_BS)], dim=1)
    return whole[:, :-1], whole[:, 1:]


def split(ids_BN: Tensor) -> tuple[Tensor, Tensor]:
    """Both halves, [B, S] and [B, T]: the source, and the separator with the target but its last.

    Of the tokens that follow, the second half is the target. Raises ValueError if the halves are
    not equally long.
    """
    if ids_BN.shape[1] % 2:
        raise ValueError(f"{ids_BN.shape[1]} tokens are no source with a target of its length")
    source_BS, shifted_BT = ids_BN.chunk(2, dim=1)
    return source_BS, shifted_BT


def random_batches(
    task: str, lengths: Sequence[int], batch_size: int, device: torch.device
) -> Draw:
    """Batches of one length each, drawn from the shortest to the longest of `lengths`."""
    shortest, longest = min(lengths), max(lengths)

    def draw(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        length = int(torch.randint(shortest, longest + 1, (), generator=generator))
        source_BS = random_sources(length, batch_size, generator)
        return sequences(task, source_BS.to(device))

    return draw
