"""Where the parameters sit: counted on models that are really built, beside the formula.

Sections: where the parameters sit, and the arithmetic of a model's size.
"""

from typing import Any

import torch
from torch import nn

from remeasure import paths
from remeasure.data.tokens import load_tokens
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention
from remeasure.models.parts import Block, FeedForward, parameter_count
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.probes import ParametersSettings
from remeasure.records.protocol import protocol


def measure(settings: ParametersSettings) -> dict[str, Any]:
    """Numbers of parameters; models are built on the meta device, where they need no memory.

    `gpt2`: the six lines of GPT-2 small's shape, and the whole model counted once more with its
    shared matrix counted once. `block_formula`: 12 d^2 + 13 d and a built block of that shape, by
    width; `qkv_biases` is what the chapter's own block saves. `ffn_share`: the feed-forward layer's
    part of the chapter's block, by width. `one_block`: the chapter's model by part, with the
    vocabulary of data/tokens.npz. `ladder`: what a rung adds to the one below.
    Raises UserError if data/tokens.npz is missing or damaged.
    """
    tokens = load_tokens(paths.TOKENS)
    blocks = {width: _block(settings.one_block, width) for width in settings.widths}
    gpt2_blocks = {width: _block(settings.gpt2, width) for width in settings.widths}
    rungs = {
        name: parameter_count(_on_meta(spec, tokens.vocab_size))
        for name, spec in (
            ("head", settings.head),
            ("heads", settings.heads),
            ("feed_forward", settings.feed_forward),
            ("one_block", settings.one_block),
        )
    }
    return {
        "protocol": protocol(settings_digest(settings), tokens.corpus_sha256, 1.0),
        "gpt2": _lines(_on_meta(settings.gpt2, settings.gpt2_vocab_size)),
        "block_formula": {
            "formula": {str(width): 12 * width**2 + 13 * width for width in settings.widths},
            "built": {str(width): parameter_count(block) for width, block in gpt2_blocks.items()},
            "qkv_biases": {
                str(width): parameter_count(block) - parameter_count(blocks[width])
                for width, block in gpt2_blocks.items()
            },
        },
        "ffn_share": {
            str(width): _count(block, FeedForward) / parameter_count(block)
            for width, block in blocks.items()
        },
        "one_block": _parts(_on_meta(settings.one_block, tokens.vocab_size)),
        "ladder": {
            "four_heads_extra": rungs["heads"] - rungs["head"],
            "layernorm_extra": rungs["one_block"] - rungs["feed_forward"],
        },
    }


def _on_meta(spec: ModelSpec, vocab_size: int) -> LanguageModel:
    with torch.device("meta"):
        return build(spec, vocab_size)


def _block(spec: ModelSpec, width: int) -> Block:
    """A block of another width. Heads share the width out, so their number counts for nothing."""
    changed = {"d_model": width, "n_heads": 1, "d_head": None, "n_blocks": 1}
    model = _on_meta(spec.model_copy(update=changed), vocab_size=1)
    return next(module for module in model.modules() if isinstance(module, Block))


def _count(module: nn.Module, *kinds: type[nn.Module]) -> int:
    return sum(parameter_count(part) for part in module.modules() if isinstance(part, kinds))


def _lines(model: LanguageModel) -> dict[str, int]:
    lines = {
        "token_embeddings": parameter_count(model.embedding),
        "position_embeddings": parameter_count(model.positions),
        "block": parameter_count(model.blocks[0]),
        "blocks": parameter_count(model.blocks),
        "final_layernorm": parameter_count(model.final_norm),
    }
    total = sum(number for name, number in lines.items() if name != "block")
    return {**lines, "total_tied": total, "total_built": parameter_count(model)}


def _parts(model: LanguageModel) -> dict[str, int]:
    return {
        "token_embeddings": parameter_count(model.embedding),
        "position_embeddings": parameter_count(model.positions),
        "attention": _count(model, SelfAttention),
        "feed_forward": _count(model, FeedForward),
        "layernorms": _count(model.blocks, nn.LayerNorm),
        "final_layernorm": parameter_count(model.final_norm),
        "output_layer": parameter_count(model.output),
        "total": parameter_count(model),
    }
