"""A language model: token embedding, positions, blocks, output layer.

Shapes: B batch, T tokens, D width, V vocabulary.
"""

from torch import Tensor, nn

from remeasure.models.cache import ModelCache
from remeasure.models.parts import Block
from remeasure.ops.loss import linear_cross_entropy, summed_cross_entropy


class LanguageModel(nn.Module):
    """Predicts the next token at every position of a window."""

    def __init__(
        self,
        embedding: nn.Embedding,
        positions: nn.Module,
        blocks: list[Block],
        final_norm: nn.Module,
        output: nn.Linear,
        *,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding, self.positions = embedding, positions
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(blocks)
        self.final_norm, self.output = final_norm, output

    def embed(self, ids_BT: Tensor, first_position: int = 0) -> Tensor:
        """The start of the residual stream, [B, T, D]: tokens with positions and dropout."""
        return self.dropout(self.positions(self.embedding(ids_BT), first_position))

    def features(self, ids_BT: Tensor, cache: ModelCache | None = None) -> Tensor:
        """What the output layer reads: [B, T, D]. A cache is extended by the T tokens."""
        x_BTD = self.embed(ids_BT, 0 if cache is None else cache.length)
        for index, block in enumerate(self.blocks):
            x_BTD = block(x_BTD, None if cache is None else cache.blocks[index])
        if cache is not None:
            cache.length += ids_BT.shape[1]
        return self.final_norm(x_BTD)

    def forward(self, ids_BT: Tensor, cache: ModelCache | None = None) -> Tensor:
        """Logits of the next token at every position: [B, T, V]."""
        return self.output(self.features(ids_BT, cache))

    def loss(self, ids_BT: Tensor, next_BT: Tensor) -> Tensor:
        """Mean cross-entropy of the next tokens, in nats: a scalar that can be differentiated."""
        features_ND = self.features(ids_BT).flatten(0, 1)
        return linear_cross_entropy(
            features_ND, self.output.weight, self.output.bias, next_BT.flatten()
        )

    def summed_loss(self, ids_BT: Tensor, next_BT: Tensor) -> Tensor:
        """Summed cross-entropy of the next tokens, in nats: a float64 scalar without gradient."""
        features_ND = self.features(ids_BT).flatten(0, 1)
        return summed_cross_entropy(
            features_ND, self.output.weight, self.output.bias, next_BT.flatten()
        )
