"""Perplexity on a whole split, in windows side by side: the same number every time.

Shapes: N tokens of a split.
"""

import math

import torch
from torch import Tensor

from remeasure.data.batches import side_by_side
from remeasure.training.interface import Trainable

TOKENS_PER_BATCH = 8192
"""How many tokens are evaluated at once; it moves nothing but rounding."""


def mean_loss(model: Trainable, ids_N: Tensor, context: int) -> float:
    """Mean cross-entropy in nats over every token but the first, each predicted once.

    The model is in evaluation mode meanwhile (no dropout) and returned to the mode it was in.
    """
    was_training = model.training
    model.train(False)
    total = 0.0
    with torch.no_grad():
        for ids_BT, next_BT in side_by_side(ids_N, context, max(1, TOKENS_PER_BATCH // context)):
            total += float(model.summed_loss(ids_BT, next_BT))
    model.train(was_training)
    return total / (len(ids_N) - 1)


def perplexity(loss: float) -> float:
    """Exponential of a mean loss in nats; beyond what a float holds, nearly the largest."""
    return math.exp(min(loss, 700.0))


def bits_per_byte(loss: float, n_tokens: int, n_bytes: int) -> float:
    """Mean loss in nats over `n_tokens` tokens, in bits for each of the bytes they stand for."""
    return loss * n_tokens / math.log(2) / n_bytes
