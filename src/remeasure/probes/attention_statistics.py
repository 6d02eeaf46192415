"""How sharp a model's attention is: deviation of its scores, entropy of its rows, frozen rows.

Section: why the scores are divided by sqrt(d_k). Shapes: B windows, T tokens, D width, H heads.
"""

from typing import Any

import torch
from torch import Tensor, nn

from remeasure.models.mixers import SelfAttention, attention_layers

FROZEN_ABOVE = 0.99
"""A row with more than this weight on one token has almost no gradient left."""


@torch.no_grad()
def attention_statistics(model: nn.Module, ids_BT: Tensor) -> dict[str, float | None]:
    """Means over the attention layers of a model reading these windows; None if it has none.

    `score_std`: sample deviation of the allowed scores as they enter the softmax. `entropy`: mean
    over rows, in nats. `effective_tokens`: mean over rows of exp(entropy). `frozen_rows`: share of
    rows with more than 0.99 on one token (the first row of a window always is).
    """
    layers = attention_layers(model)
    if not layers:
        return dict.fromkeys(("score_std", "entropy", "effective_tokens", "frozen_rows"))
    inputs = _inputs(model, layers, ids_BT)
    per_layer = [_of_scores(layer.scores(inputs[layer])) for layer in layers]
    return {
        name: sum(statistics[name] for statistics in per_layer) / len(layers)
        for name in per_layer[0]
    }


def _inputs(
    model: nn.Module, layers: list[SelfAttention], ids_BT: Tensor
) -> dict[SelfAttention, Tensor]:
    inputs: dict[SelfAttention, Tensor] = {}

    def note(layer: Any, args: tuple[Tensor, ...]) -> None:
        inputs[layer] = args[0]

    hooks = [layer.register_forward_pre_hook(note) for layer in layers]
    was_training = model.training
    model.eval()
    try:
        model(ids_BT)
    finally:
        model.train(was_training)
        for hook in hooks:
            hook.remove()
    return inputs


def _of_scores(scores_BHTT: Tensor) -> dict[str, float]:
    weights_BHTT = scores_BHTT.softmax(-1)
    entropy_BHT = torch.special.entr(weights_BHTT).sum(-1)
    return {
        "score_std": float(scores_BHTT[scores_BHTT.isfinite()].double().std()),
        "entropy": float(entropy_BHT.double().mean()),
        "effective_tokens": float(entropy_BHT.double().exp().mean()),
        "frozen_rows": float((weights_BHTT.amax(-1) > FROZEN_ABOVE).double().mean()),
    }
