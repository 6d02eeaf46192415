"""No encoder: the chapter's block reads source, separator and target as one sequence.

Shapes: B strings, S source letters, T target letters, N = S + T, D width, H heads, V vocabulary.
"""

from typing import final

import torch
from torch import Tensor

from remeasure.models.build import build
from remeasure.models.mixers import SelfAttention, attention_weights
from remeasure.models.parts import SubLayer
from remeasure.params.model import ModelSpec
from remeasure.params.seq2seq import Positions
from remeasure.seq2seq.translator import Translator


@final
class DecoderOnlyTranslator(Translator):
    """A language model that is asked about the second half of its window only.

    Positions count through the whole sequence, the target's on from the separator's.
    """

    def __init__(
        self, vocab_size: int, d_model: int, n_blocks: int, n_heads: int, pos: Positions
    ) -> None:
        super().__init__()
        self.model = build(_spec(d_model, n_blocks, n_heads, pos), vocab_size)
        self.output = self.model.output

    def features(self, source_BS: Tensor, shifted_BT: Tensor) -> Tensor:
        """[B, T, D]."""
        ids_BN = torch.cat([source_BS, shifted_BT], dim=1)
        return self.model.features(ids_BN)[:, source_BS.shape[1] :]

    def weights(self, source_BS: Tensor, shifted_BT: Tensor) -> list[Tensor]:
        """One layer for each block; a row's rest lies on the separator and on the target so far."""
        length = source_BS.shape[1]
        x_BND = self.model.embed(torch.cat([source_BS, shifted_BT], dim=1))
        found = []
        for sublayer in self.model.modules():
            if isinstance(sublayer, SubLayer):
                if isinstance(sublayer.inner, SelfAttention):
                    weights_BHNN = attention_weights(sublayer.inner, sublayer.norm_before(x_BND))
                    found.append(weights_BHNN[:, :, length:, :length])
                x_BND = sublayer(x_BND)
        return found


def _spec(d_model: int, n_blocks: int, n_heads: int, pos: Positions) -> ModelSpec:
    """The chapter's block, but for its positions; without a table of them no context is needed."""
    return ModelSpec(
        d_model=d_model,
        context=1,
        n_blocks=n_blocks,
        n_heads=n_heads,
        d_head=None,
        mixer="attention",
        scale=True,
        causal=True,
        qkv_bias=False,
        output_projection=True,
        residual=True,
        ffn="gelu",
        ffn_multiple=4,
        norm="pre",
        pos=pos,
        n_positions=None,
        tie_embeddings=False,
        output_bias=True,
        dropout=0.0,
    )
