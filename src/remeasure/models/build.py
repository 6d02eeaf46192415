"""From a description to a model. Nowhere else asks which kind of part is meant."""

from torch import nn

from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention, UniformAverage
from remeasure.models.parts import (
    Block,
    FeedForward,
    LearnedPositions,
    NoPositions,
    SinusoidalPositions,
    SubLayer,
    layer_norm,
)
from remeasure.params.model import ModelSpec


def build(spec: ModelSpec, vocab_size: int) -> LanguageModel:
    """A model with PyTorch's default initialisation, drawn from the global generator."""
    embedding = nn.Embedding(vocab_size, spec.d_model)
    output = nn.Linear(spec.d_model, vocab_size, bias=spec.output_bias)
    if spec.tie_embeddings:
        output.weight = embedding.weight
    return LanguageModel(
        embedding,
        _positions(spec),
        [Block(_sublayers(spec)) for _ in range(spec.n_blocks)],
        layer_norm(spec.norm == "pre", spec.d_model),
        output,
        dropout=spec.dropout,
    )


def _positions(spec: ModelSpec) -> nn.Module:
    match spec.pos:
        case "learned":
            return LearnedPositions(spec.position_rows, spec.d_model)
        case "sinusoidal":
            return SinusoidalPositions()
        case "none" | "rope" | "alibi":
            return NoPositions()


def _sublayers(spec: ModelSpec) -> list[SubLayer]:
    inner = [part for part in (_mixer(spec), _feed_forward(spec)) if part is not None]
    return [
        SubLayer(
            part,
            layer_norm(spec.norm == "pre", spec.d_model),
            layer_norm(spec.norm == "post", spec.d_model),
            residual=spec.residual,
            dropout=spec.dropout,
        )
        for part in inner
    ]


def _mixer(spec: ModelSpec) -> nn.Module | None:
    match spec.mixer:
        case "none":
            return None
        case "uniform":
            return UniformAverage(causal=spec.causal)
        case "attention":
            return SelfAttention(
                spec.d_model,
                spec.n_heads,
                spec.head_width,
                scale=spec.scale,
                causal=spec.causal,
                positions=spec.pos,
                qkv_bias=spec.qkv_bias,
                output_projection=spec.output_projection,
                dropout=spec.dropout,
            )


def _feed_forward(spec: ModelSpec) -> nn.Module | None:
    match spec.ffn:
        case "none":
            return None
        case "gelu":
            return FeedForward(spec.d_model, spec.ffn_multiple * spec.d_model)
