"""Which tokens are hidden, and batches with hidden tokens.

Every hidden token is replaced by the mask symbol. Devlin et al. (2019, section 3.1) leave a tenth
of them as they are and put a random token for another tenth, because the symbol never occurs in the
tasks that BERT is used for afterwards. Here nothing is asked but hidden tokens, so that would only
change what is measured.

Shapes: N tokens of a split, B windows, T tokens of a window.
"""

import torch
from torch import Tensor

from remeasure.data.batches import Draw, random_windows

Share = tuple[float, float]
"""The lowest and the highest share of a window that is hidden; equal ones fix it."""


def hidden(share_B: Tensor, length: int, generator: torch.Generator) -> Tensor:
    """True where a token is hidden, [B, T], at random places.

    In each window that share of its `length` tokens, rounded to whole tokens, at least one.
    """
    count_B = (share_B * length).round().clamp(1, length)
    rank_BT = torch.rand(len(share_B), length, generator=generator).argsort(1).argsort(1)
    return rank_BT < count_B[:, None]


def hide(ids_BT: Tensor, hidden_BT: Tensor, mask_id: int) -> Tensor:
    """The windows with the mask symbol in place of what is hidden, [B, T]."""
    return ids_BT.masked_fill(hidden_BT.to(ids_BT.device), mask_id)


def masked_windows(
    ids_N: Tensor, context: int, batch_size: int, share: Share, mask_id: int
) -> Draw:
    """Random windows, each with a share drawn uniformly from `share` hidden, and the windows whole.

    [B, T] twice, as the training loop takes them: the model tells what is hidden by its symbol.
    """
    draw_windows = random_windows(ids_N, context, batch_size)
    low, high = share

    def draw(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        whole_BT, _ = draw_windows(generator)
        share_B = low + (high - low) * torch.rand(batch_size, generator=generator)
        hidden_BT = hidden(share_B, context, generator)
        return hide(whole_BT, hidden_BT, mask_id), whole_BT

    return draw
