"""Windows of a split for measurements that would take too long on all of it.

Shapes: N tokens, M rows, B windows, T tokens of a window.
"""

import torch
from torch import Tensor

from remeasure.errors import UserError


def spaced_windows(ids_N: Tensor, context: int, count: int | None = None) -> tuple[Tensor, Tensor]:
    """`count` windows evenly spaced over a text, and for each token the one that follows.

    [B, T] twice. The windows are whole and lie side by side if `count` is None or as large as there
    are windows. Raises UserError if the text is too short for one.
    """
    if len(ids_N) <= context:
        raise UserError(
            f"{len(ids_N)} held-out tokens are too few for windows of {context};"
            " use a longer text or a shorter context"
        )
    rows_MT1 = ids_N.unfold(0, context + 1, context)
    if count is not None and count < len(rows_MT1):
        rows_MT1 = rows_MT1[torch.arange(count, device=ids_N.device) * len(rows_MT1) // count]
    return rows_MT1[:, :-1], rows_MT1[:, 1:]
