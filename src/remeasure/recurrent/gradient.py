"""How much of a loss's gradient arrives at the tokens before it (Bengio, Simard, Frasconi 1994).

Shapes: B windows, T tokens of a window, D width, V vocabulary.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from remeasure.models.language_model import LanguageModel

FADED = 0.01
"""A gradient still reaches a distance at which it is this part of that at distance 1, or more."""
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Reach:
    """Norms of the gradient by distance, from 0 to that of the window's first token."""

    low: Sequence[float]
    median: Sequence[float]
    high: Sequence[float]

    def ratio(self, far: int) -> float:
        """The norm at distance `far` over that at distance 1."""
        return self.median[far] / self.median[1]

    def decay(self, far: int) -> float:
        """The factor of one more token, on average from distance 1 to `far`."""
        return self.ratio(far) ** (1 / (far - 1))

    @property
    def longest(self) -> int:
        """The longest distance that the gradient reaches; at most that of the first token."""
        least = FADED * self.median[1]
        return max(distance for distance, norm in enumerate(self.median) if norm >= least)


def reach(model: LanguageModel, ids_BT: Tensor, next_B: Tensor) -> Reach:
    """Medians and quartiles over the windows.

    A norm is a product of as many factors as there are tokens on the way, so norms spread over
    powers of ten: a median is that of their logarithms too, and does not mind a norm of zero.
    """
    norms_BT = gradient_norms(model, ids_BT, next_B)
    low_T, median_T, high_T = norms_BT.quantile(norms_BT.new_tensor(QUARTILES), dim=0)
    return Reach(low_T.tolist(), median_T.tolist(), high_T.tolist())


def gradient_norms(model: LanguageModel, ids_BT: Tensor, next_B: Tensor) -> Tensor:
    """Norm of d loss / d embedding for every input token of each window, [B, T].

    The loss is that of the token `next_B` after each window's last; column d belongs to the input
    token at distance d before the last. Computed on the CPU in float64: over a hundred tokens a
    gradient can shrink to less than float32 holds. The model itself stays as it is.
    """
    exact = copy.deepcopy(model).to("cpu", torch.float64).eval()
    embedded: list[Tensor] = []
    exact.embedding.register_forward_hook(lambda module, args, output: embedded.append(output))
    logits_BV = exact.output(exact.features(ids_BT.cpu())[:, -1])
    loss = F.cross_entropy(logits_BV, next_B.cpu(), reduction="sum")
    (grad_BTD,) = torch.autograd.grad(loss, embedded)
    return grad_BTD.norm(dim=-1).flip(1)
