"""Gradient norm of each block at initialisation, before any step: pre-norm against post-norm.

Section: where the normalisation sits (Xiong et al. 2020). Shapes: B windows, T tokens.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from remeasure import paths
from remeasure.data.tokens import Tokens, load_tokens
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import attention_layers
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.probes import GradientNormsSettings
from remeasure.probes.real_text import training_windows
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread
from remeasure.training.seeds import global_seed


def measure(settings: GradientNormsSettings) -> dict[str, Any]:
    """For "pre" and "post", and each of three choices of parameters, spreads over the seeds.

    `block`: all parameters of a block. `output_projection`: the matrix W_o of its attention alone.
    `value`: the matrix W_v alone. Each has the `norms` of all blocks in order, the `first`, the
    `last`, and the `ratio` of last to first. A seed starts from the model, and takes the gradient
    of the mean loss on the first windows, that a training with that seed starts from.
    Raises UserError if data/tokens.npz is missing, damaged, or too short.
    """
    tokens = load_tokens(paths.TOKENS)
    record: dict[str, Any] = {
        "protocol": protocol(settings_digest(settings), tokens.corpus_sha256, 1.0)
    }
    with Progress("probe@gradient_norms", 2 * len(settings.seeds), unit="model") as progress:
        for name, spec in (("pre", settings.pre), ("post", settings.post)):
            by_seed: dict[int, dict[str, list[float]]] = {}
            for seed in settings.seeds:
                by_seed[seed] = _of_seed(spec, tokens, settings.batch_size, seed)
                progress.advance(name)
            record[name] = _summary(by_seed)
    return record


def _of_seed(spec: ModelSpec, tokens: Tokens, batch_size: int, seed: int) -> dict[str, list[float]]:
    with global_seed(seed, "initialisation"):
        model = build(spec, tokens.vocab_size)
    with global_seed(seed, "dropout"):
        ids_BT, next_BT = training_windows(tokens, spec.context, batch_size, seed)
        return block_gradient_norms(model, ids_BT, next_BT)


def block_gradient_norms(
    model: LanguageModel, ids_BT: Tensor, next_BT: Tensor
) -> dict[str, list[float]]:
    """Norms of the gradient of the mean loss (nats), one a block, for the three choices.

    Every block has one attention layer with an output projection. Leaves the gradients in place.
    """
    model.zero_grad()
    model.loss(ids_BT, next_BT).backward()
    norms: dict[str, list[float]] = {"block": [], "output_projection": [], "value": []}
    for block in model.blocks:
        attention = attention_layers(block)[0]
        # The rows of the one matrix for query, key and value come in that order.
        _, _, value_rows = _gradient(attention.query_key_value.weight).chunk(3)
        norms["block"].append(_norm(_gradient(parameter) for parameter in block.parameters()))
        norms["output_projection"].append(_norm([_gradient(attention.output.weight)]))
        norms["value"].append(_norm([value_rows]))
    return norms


def _gradient(parameter: object) -> Tensor:
    if not isinstance(parameter, nn.Parameter) or parameter.grad is None:
        raise ValueError("the loss does not depend on this parameter")
    return parameter.grad


def _norm(gradients: Iterable[Tensor]) -> float:
    squares = [gradient.double().square().sum() for gradient in gradients]
    return float(torch.stack(squares).sum().sqrt())


def _summary(by_seed: dict[int, dict[str, list[float]]]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for choice in next(iter(by_seed.values())):
        per_seed = {seed: norms[choice] for seed, norms in by_seed.items()}
        n_blocks = len(next(iter(per_seed.values())))
        norms = [
            spread({seed: values[block] for seed, values in per_seed.items()})
            for block in range(n_blocks)
        ]
        summary[choice] = {
            "norms": norms,
            "first": norms[0],
            "last": norms[-1],
            "ratio": spread({seed: values[-1] / values[0] for seed, values in per_seed.items()}),
        }
    return summary
