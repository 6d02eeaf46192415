"""The transformer's encoder and decoder, with cross-attention between them.

Vaswani et al. 2017, section 3.1, with what the chapter's block changes: pre-norm and GELU. Self-
attention and feed-forward layer are that block's own; only cross-attention is new.
Shapes: B strings, S source letters, T target letters, D width, H heads, K head width, V vocabulary.
"""

from typing import final

from torch import Tensor, nn

from remeasure.models.mixers import SelfAttention
from remeasure.models.parts import Block, FeedForward, SinusoidalPositions, SubLayer, layer_norm
from remeasure.ops import attention as attention_op
from remeasure.seq2seq.translator import Translator


@final
class CrossAttention(nn.Module):
    """Queries from the target, keys and values from the source (section 3.2.3)."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key_value = nn.Linear(d_model, 2 * d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor) -> Tensor:
        """[B, T, D] of the target and [B, S, D] of the source to [B, T, D]."""
        query_BHTK, key_BHSK, value_BHSK = self._project(x_BTD, memory_BSD)
        mixed_BHTK = attention_op.attention(query_BHTK, key_BHSK, value_BHSK, causal=False)
        mixed_BTD: Tensor = self.output(mixed_BHTK.transpose(1, 2).flatten(2))
        return mixed_BTD

    def weights(self, x_BTD: Tensor, memory_BSD: Tensor) -> Tensor:
        """What each target place looks at, [B, H, T, S]."""
        query_BHTK, key_BHSK, _ = self._project(x_BTD, memory_BSD)
        return attention_op.scores(query_BHTK, key_BHSK, causal=False).softmax(-1)

    def _project(self, x_BTD: Tensor, memory_BSD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        key_BSD, value_BSD = self.key_value(memory_BSD).chunk(2, dim=-1)
        return self._heads(self.query(x_BTD)), self._heads(key_BSD), self._heads(value_BSD)

    def _heads(self, x_BTD: Tensor) -> Tensor:
        return x_BTD.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


@final
class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention, feed-forward layer, each added to its input."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.self_attention = _self_attention(d_model, n_heads, causal=True)
        self.cross_norm = layer_norm(True, d_model)
        self.cross_attention = CrossAttention(d_model, n_heads)
        self.feed_forward = _feed_forward(d_model)

    def forward(self, x_BTD: Tensor, memory_BSD: Tensor) -> Tensor:
        """[B, T, D] of the target and [B, S, D] of the source to [B, T, D]."""
        x_BTD = self.self_attention(x_BTD)
        x_BTD = x_BTD + self.cross_attention(self.cross_norm(x_BTD), memory_BSD)
        return self.feed_forward(x_BTD)

    def weights(self, x_BTD: Tensor, memory_BSD: Tensor) -> Tensor:
        """Cross-attention for this input of the block, [B, H, T, S]."""
        x_BTD = self.self_attention(x_BTD)
        return self.cross_attention.weights(self.cross_norm(x_BTD), memory_BSD)


@final
class CrossAttentionTranslator(Translator):
    """As many blocks in encoder and decoder; sinusoidal positions count from 0 in both."""

    def __init__(self, vocab_size: int, d_model: int, n_blocks: int, n_heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = SinusoidalPositions()
        self.encoder = nn.ModuleList(_encoder_block(d_model, n_heads) for _ in range(n_blocks))
        self.encoder_norm = layer_norm(True, d_model)
        self.decoder = nn.ModuleList(DecoderBlock(d_model, n_heads) for _ in range(n_blocks))
        self.decoder_norm = layer_norm(True, d_model)
        self.output = nn.Linear(d_model, vocab_size)

    def features(self, source_BS: Tensor, shifted_BT: Tensor) -> Tensor:
        """[B, T, D]."""
        memory_BSD, x_BTD = self._encoded(source_BS), self._embedded(shifted_BT)
        for block in self.decoder:
            x_BTD = block(x_BTD, memory_BSD)
        normed_BTD: Tensor = self.decoder_norm(x_BTD)
        return normed_BTD

    def weights(self, source_BS: Tensor, shifted_BT: Tensor) -> list[Tensor]:
        """One layer for each block of the decoder."""
        memory_BSD, x_BTD = self._encoded(source_BS), self._embedded(shifted_BT)
        found = []
        for block in self.decoder:
            assert isinstance(block, DecoderBlock)
            found.append(block.weights(x_BTD, memory_BSD))
            x_BTD = block(x_BTD, memory_BSD)
        return found

    def _encoded(self, source_BS: Tensor) -> Tensor:
        x_BSD = self._embedded(source_BS)
        for block in self.encoder:
            x_BSD = block(x_BSD)
        normed_BSD: Tensor = self.encoder_norm(x_BSD)
        return normed_BSD

    def _embedded(self, ids_BT: Tensor) -> Tensor:
        embedded_BTD: Tensor = self.positions(self.embedding(ids_BT), first_position=0)
        return embedded_BTD


def _encoder_block(d_model: int, n_heads: int) -> Block:
    return Block([_self_attention(d_model, n_heads, causal=False), _feed_forward(d_model)])


def _self_attention(d_model: int, n_heads: int, *, causal: bool) -> SubLayer:
    mixer = SelfAttention(
        d_model,
        n_heads,
        d_model // n_heads,
        scale=True,
        causal=causal,
        positions="none",
        qkv_bias=True,
        output_projection=True,
        dropout=0.0,
    )
    return _pre_norm(mixer, d_model)


def _feed_forward(d_model: int) -> SubLayer:
    return _pre_norm(FeedForward(d_model, 4 * d_model), d_model)


def _pre_norm(inner: nn.Module, d_model: int) -> SubLayer:
    nothing = layer_norm(False, d_model)
    return SubLayer(inner, layer_norm(True, d_model), nothing, residual=True, dropout=0.0)
