"""Held-out perplexity under every way of asking the same model about the same windows.

Shapes: B windows, T tokens of a window, V vocabulary.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from remeasure.models.cache import ModelCache
from remeasure.models.language_model import LanguageModel
from remeasure.normalisation.norms import SingleValue
from remeasure.training.evaluation import perplexity


@contextmanager
def in_mode(model: nn.Module, training: bool) -> Iterator[None]:
    """Training or evaluation mode for a while, without gradients; then all is as it was.

    In training mode a BatchNorm moves its running statistics: they are put back too.
    """
    was_training = model.training
    kept = {name: buffer.clone() for name, buffer in model.named_buffers()}
    model.train(training)
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)
        for name, buffer in model.named_buffers():
            buffer.copy_(kept[name])


def whole(model: LanguageModel, ids_BT: Tensor, next_BT: Tensor) -> float:
    """Summed loss in nats, all tokens of a window at once."""
    return float(model.summed_loss(ids_BT, next_BT))


def token_by_token(model: LanguageModel, ids_BT: Tensor, next_BT: Tensor) -> float:
    """The same with one token of each window at a time, those before it in the cache."""
    cache = ModelCache(len(model.blocks), ids_BT.shape[1])
    logits_BTV = torch.cat([model(ids_B1, cache) for ids_B1 in ids_BT.split(1, dim=1)], dim=1)
    return float(
        F.cross_entropy(logits_BTV.flatten(0, 1).double(), next_BT.flatten(), reduction="sum")
    )


WAYS: Mapping[str, Callable[[LanguageModel, Tensor, Tensor], float]] = {
    "whole": whole,
    "token": token_by_token,
}
"""By the name in the record."""


def asked(
    model: LanguageModel,
    way: str,
    ids_BT: Tensor,
    next_BT: Tensor,
    *,
    batch_size: int,
    training: bool,
) -> float | None:
    """Perplexity in one of WAYS, `batch_size` windows at a time, in training or evaluation mode.

    None where a BatchNorm would have to take mean and variance from a single value.
    """
    nats = 0.0
    try:
        with in_mode(model, training):
            for some_BT, following_BT in zip(
                ids_BT.split(batch_size), next_BT.split(batch_size), strict=True
            ):
                nats += WAYS[way](model, some_BT, following_BT)
    except SingleValue:
        return None
    return perplexity(nats / next_BT.numel())
