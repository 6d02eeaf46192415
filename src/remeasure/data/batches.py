"""Windows of tokens: at random for training, side by side for evaluation.

Shapes: N tokens, M rows, B windows, T tokens of a window.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

Draw = Callable[[torch.Generator], tuple[Tensor, Tensor]]
"""Draws a batch and, for each of its tokens, the one that follows: [B, T] twice."""


def random_windows(ids_N: Tensor, context: int, batch_size: int) -> Draw:
    """Windows of a text, at positions drawn with replacement.

    Raises ValueError if the tokens are fewer than one window and its next token.
    """
    if len(ids_N) <= context:
        raise ValueError(f"{len(ids_N)} tokens are too few for windows of {context}")
    return random_rows(ids_N.unfold(0, context + 1, 1), batch_size)


def random_rows(ids_MT1: Tensor, batch_size: int) -> Draw:
    """Rows of a table of tokens, drawn with replacement."""

    def draw(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen_B = torch.randint(len(ids_MT1), (batch_size,), generator=generator)
        rows_BT1 = ids_MT1[chosen_B.to(ids_MT1.device)]
        return rows_BT1[:, :-1], rows_BT1[:, 1:]

    return draw


def side_by_side(ids_N: Tensor, context: int, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Every token but the first exactly once as a target, in order: pairs of [B, T].

    The last window, shorter than the others if the length is no multiple, comes alone.
    """
    inputs_M, targets_M = ids_N[:-1], ids_N[1:]
    whole = len(inputs_M) // context
    inputs_WT = inputs_M[: whole * context].view(whole, context)
    targets_WT = targets_M[: whole * context].view(whole, context)
    for start in range(0, whole, batch_size):
        yield inputs_WT[start : start + batch_size], targets_WT[start : start + batch_size]
    if whole * context < len(inputs_M):
        yield inputs_M[None, whole * context :], targets_M[None, whole * context :]
