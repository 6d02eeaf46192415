"""The four architectures, small, and strings for them."""

from typing import Any

import torch
from torch import Tensor

from remeasure.params.reading import check
from remeasure.params.seq2seq import SIZES
from remeasure.seq2seq.architectures import build_translator
from remeasure.seq2seq.tasks import random_sources
from remeasure.seq2seq.translator import Translator

SMALL: dict[str, dict[str, Any]] = {
    "lstm": {"d_model": 8},
    "bahdanau": {"d_model": 8},
    "cross_attention": {"d_model": 8, "n_blocks": 2, "n_heads": 2},
    "decoder_only": {"d_model": 8, "n_blocks": 2, "n_heads": 2, "pos": "rope"},
}


def small(architecture: str) -> Translator:
    """An architecture in float64, small, with weights that are always the same."""
    torch.manual_seed(0)
    sizes = check(SIZES[architecture], SMALL[architecture], architecture)
    return build_translator(architecture, sizes).double().eval()


def sources(length: int, count: int, seed: int = 0) -> Tensor:
    """Random strings, [B, S]."""
    return random_sources(length, count, torch.Generator().manual_seed(seed))
