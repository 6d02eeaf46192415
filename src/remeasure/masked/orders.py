"""Windows filled in one token at a time, in any order, and what one more token changes.

By the chain rule log p(x) is the sum over the tokens of log p(token | those filled in before), and
the order does not matter as long as the conditionals are those of one joint distribution. Those of
a masked model are trained one by one, and nothing makes them so.

Shapes: B windows, T tokens of a window, V vocabulary, D width, E earlier places.
"""

from collections.abc import Callable

import torch
from torch import Tensor

Filler = Callable[[Tensor, int], Tensor]
"""From windows [B, T] with hidden tokens, and a place: log-probabilities of its token, [B, V]."""
Features = Callable[[Tensor], Tensor]
"""From windows [B, T] to what the output layer reads, [B, T, D]."""


@torch.no_grad()
def chain_rule(fill: Filler, whole_BT: Tensor, order_T: Tensor, mask_id: int) -> Tensor:
    """Nats of each token when the windows are filled in place by place, [B, T] in float64.

    Everything is hidden at first; after its turn a place shows the right token.
    """
    shown_BT = torch.full_like(whole_BT, mask_id)
    nats_BT = torch.empty(whole_BT.shape, dtype=torch.float64, device=whole_BT.device)
    for place in order_T.tolist():
        right_B1 = whole_BT[:, place : place + 1]
        nats_BT[:, place] = -fill(shown_BT, place).gather(1, right_B1)[:, 0].double()
        shown_BT[:, place : place + 1] = right_B1
    return nats_BT


@torch.no_grad()
def change_before(
    features: Features, whole_BT: Tensor, place: int, mask_id: int
) -> tuple[float, float]:
    """What revealing the token at `place` does to the features of the places before it.

    All from `place` on is hidden, then all after it. Returns the largest change of a feature, and
    the root of the mean square of the change over that of the features.
    """
    hidden_BT, revealed_BT = whole_BT.clone(), whole_BT.clone()
    hidden_BT[:, place:] = mask_id
    revealed_BT[:, place + 1 :] = mask_id
    before_BED = features(hidden_BT)[:, :place].double()
    change_BED = features(revealed_BT)[:, :place].double() - before_BED
    relative = change_BED.square().mean().sqrt() / before_BED.square().mean().sqrt()
    return float(change_BED.abs().max()), float(relative)
