"""The residual stream taken apart: the final vector and the logits as sums of what was written.

Companion chapter: the residual stream. Shapes: B windows, T tokens, D width, V vocabulary.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from remeasure import paths
from remeasure.data.tokens import load_tokens
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention, UniformAverage
from remeasure.models.parts import FeedForward, SubLayer
from remeasure.params.digest import settings_digest
from remeasure.params.probes import ResidualStreamSettings
from remeasure.probes.real_text import training_windows
from remeasure.records.protocol import protocol
from remeasure.training.seeds import global_seed

NAMES: dict[type[nn.Module], str] = {
    SelfAttention: "attention",
    UniformAverage: "average",
    FeedForward: "feed_forward",
}


@dataclass(frozen=True)
class TakenApart:
    """One forward pass, whole and in pieces."""

    pieces: dict[str, Tensor]
    """The embedding and what each sub-layer wrote, each [B, T, D]."""
    final_BTD: Tensor
    """What the model itself hands to its final LayerNorm."""
    logit_pieces: dict[str, Tensor]
    """What each piece adds to the logits, each [B, T, V]."""
    constant_V: Tensor
    """What the biases of the final LayerNorm and of the output layer add to all logits."""
    logits_BTV: Tensor
    """The model's own logits."""


def measure(settings: ResidualStreamSettings) -> dict[str, Any]:
    """Largest differences between the float32 model and the sum of its pieces, on real text.

    `max_diff` is for the vector before the final LayerNorm, `logits.max_diff` for the logits. For
    each piece: mean length of its vector, and of its part of the logits. The logits can be split
    because LayerNorm is linear once its mean and scale are fixed; the scale is that of the full
    sum, so a piece's part depends, through this one number a position, on the other pieces.
    Raises UserError if data/tokens.npz is missing, damaged, or too short.
    """
    tokens = load_tokens(paths.TOKENS)
    with global_seed(settings.seed, "initialisation"):
        model = build(settings.model, tokens.vocab_size)
    ids_BT, _ = training_windows(tokens, settings.model.context, settings.windows, settings.seed)
    apart = take_apart(model, ids_BT)
    stream_BTD = _sum(apart.pieces)
    logits_BTV = _sum(apart.logit_pieces) + apart.constant_V
    return {
        "protocol": protocol(settings_digest(settings), tokens.corpus_sha256, 1.0),
        "max_diff": float((stream_BTD - apart.final_BTD).abs().max()),
        "logits": {
            "max_diff": float((logits_BTV - apart.logits_BTV).abs().max()),
            "constant_norm": float(apart.constant_V.norm()),
        },
        "pieces": [
            {
                "name": name,
                "norm": float(piece_BTD.norm(dim=-1).mean()),
                "logit_norm": float(apart.logit_pieces[name].norm(dim=-1).mean()),
            }
            for name, piece_BTD in apart.pieces.items()
        ],
    }


@torch.no_grad()
def take_apart(model: LanguageModel, ids_BT: Tensor) -> TakenApart:
    """Run a pre-norm model once, in evaluation mode, and once more piece by piece.

    The whole comes from the model's own forward pass; the pieces from `embed` and from each
    sub-layer's `written`, given the input that it had in that pass. Raises TypeError if the model
    has no final LayerNorm.
    """
    norm = model.final_norm
    if not isinstance(norm, nn.LayerNorm):
        raise TypeError("only a model with a final LayerNorm is taken apart")
    model.eval()
    sublayers = _sublayers(model)
    inputs, logits_BTV = _inputs(model, [*sublayers.values(), norm], ids_BT)
    pieces = {"embedding": model.embed(ids_BT)}
    for name, sublayer in sublayers.items():
        pieces[name] = sublayer.written(inputs[sublayer])
    final_BTD = inputs[norm]
    scale_BT1 = torch.rsqrt(final_BTD.var(-1, correction=0, keepdim=True) + norm.eps)
    logit_pieces = {
        name: F.linear(
            (piece_BTD - piece_BTD.mean(-1, keepdim=True)) * scale_BT1 * norm.weight,
            model.output.weight,
        )
        for name, piece_BTD in pieces.items()
    }
    return TakenApart(pieces, final_BTD, logit_pieces, model.output(norm.bias), logits_BTV)


def _sublayers(model: LanguageModel) -> dict[str, SubLayer]:
    return {
        f"block_{number}.{NAMES[type(part.inner)]}": part
        for number, block in enumerate(model.blocks, start=1)
        for part in block.modules()
        if isinstance(part, SubLayer)
    }


def _inputs(
    model: LanguageModel, modules: list[nn.Module], ids_BT: Tensor
) -> tuple[dict[nn.Module, Tensor], Tensor]:
    """What entered each of `modules` while the model read these windows, and its logits."""
    inputs: dict[nn.Module, Tensor] = {}

    def note(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        inputs[module] = args[0]

    hooks = [module.register_forward_pre_hook(note) for module in modules]
    try:
        logits_BTV = model(ids_BT)
    finally:
        for hook in hooks:
            hook.remove()
    return inputs, logits_BTV


def _sum(pieces: dict[str, Tensor]) -> Tensor:
    """In float64, so that the rounding that is left is the model's own."""
    return torch.stack(list(pieces.values())).double().sum(0)
