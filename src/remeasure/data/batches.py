"""Windows of tokens: at random for training, side by side for evaluation.

Shapes: N tokens, B windows, T tokens of a window.
"""

from collections.abc import Iterator

import torch
from torch import Tensor


class RandomWindows:
    """Batches of windows at positions drawn from a generator of its own."""

    def __init__(
        self, ids_N: Tensor, context: int, batch_size: int, generator: torch.Generator
    ) -> None:
        """Raises ValueError if the tokens are fewer than one window and its next token."""
        if len(ids_N) <= context:
            raise ValueError(f"{len(ids_N)} tokens are too few for windows of {context}")
        self._windows_MT1 = ids_N.unfold(0, context + 1, 1)
        self._batch_size = batch_size
        self._generator = generator

    def draw(self) -> tuple[Tensor, Tensor]:
        """The next batch and, for each of its tokens, the one that follows: [B, T] twice."""
        starts_B = torch.randint(
            len(self._windows_MT1), (self._batch_size,), generator=self._generator
        )
        window_BT1 = self._windows_MT1[starts_B.to(self._windows_MT1.device)]
        return window_BT1[:, :-1], window_BT1[:, 1:]


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
