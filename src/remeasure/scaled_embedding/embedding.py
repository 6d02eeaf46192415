"""The embedding of Vaswani et al. 2017, section 3.4: weights multiplied by sqrt(d_model) when read.

Shapes: B windows, T tokens of a window, D width, V vocabulary.
"""

import math
from typing import final

import torch
from torch import Tensor, nn

from remeasure.models.language_model import LanguageModel


@final
class ScaledEmbedding(nn.Embedding):
    """Looks a token up and multiplies it by sqrt(D)."""

    def forward(self, input: Tensor) -> Tensor:
        """Token ids [B, T] to [B, T, D]."""
        return super().forward(input) * math.sqrt(self.embedding_dim)


def scale_embedding(model: LanguageModel) -> None:
    """Divide the embedding's weights [V, D] by sqrt(D) and read them through a ScaledEmbedding.

    What the blocks read stays the same, and nothing is drawn at random. An output layer tied to
    these weights starts with a deviation of 1/sqrt(D) instead of 1.
    """
    weight_VD = model.embedding.weight
    with torch.no_grad():
        weight_VD.div_(math.sqrt(model.embedding.embedding_dim))
    vocab_size, d_model = weight_VD.shape
    model.embedding = ScaledEmbedding(vocab_size, d_model, device="meta")
    model.embedding.weight = weight_VD
