"""What moves information between positions: a uniform average, or attention.

Shapes: B batch, T tokens, S tokens with those of the cache before them, D width, H heads, K head
width.
"""

from functools import partial

import torch
from torch import Tensor, nn

from remeasure.models.cache import Cache
from remeasure.ops import attention as attention_op
from remeasure.ops.averaging import averaging_matrix
from remeasure.ops.blocked_attention import blocked_attention, pays_off
from remeasure.ops.positions import alibi_bias, rotate


class UniformAverage(nn.Module):
    """Every position receives the plain average of all positions up to itself.

    With `causal` false, of the whole window.
    """

    def __init__(self, *, causal: bool) -> None:
        super().__init__()
        self.causal = causal

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        x_BSD = x_BTD if cache is None else cache.extend("x", x_BTD)
        length, new = x_BSD.shape[-2], x_BTD.shape[-2]
        if not self.causal:
            return x_BSD.mean(-2, keepdim=True).expand_as(x_BTD)
        matrix_SS = averaging_matrix(length, dtype=x_BTD.dtype, device=x_BTD.device)
        return matrix_SS[length - new :] @ x_BSD


class SelfAttention(nn.Module):
    """Causal self-attention with H heads of width K (Vaswani et al. 2017, section 3.2.2).

    `positions` acts on the scores: "rope" turns query and key, "alibi" adds its penalty, anything
    else does nothing here. Without `output_projection` the heads' outputs are concatenated as they
    are, so H x K must be D.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        head_width: int,
        *,
        scale: bool,
        causal: bool,
        positions: str,
        qkv_bias: bool,
        output_projection: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.n_heads, self.head_width = n_heads, head_width
        self.scale, self.causal, self.positions = scale, causal, positions
        self.dropout = dropout
        # One matrix for query, key and value: the same numbers by one multiplication, not three.
        self.query_key_value = nn.Linear(d_model, 3 * n_heads * head_width, bias=qkv_bias)
        self.output: nn.Module = (
            nn.Linear(n_heads * head_width, d_model) if output_projection else nn.Identity()
        )

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        query_BHTK, key_BHSK, value_BHSK = self.project(x_BTD, cache)
        bias_HTS = self._bias(query_BHTK, key_BHSK)
        dropout = self.dropout if self.training else 0.0
        blocked = not dropout and pays_off(query_BHTK, key_BHSK)
        form = blocked_attention if blocked else partial(attention_op.attention, dropout=dropout)
        mixed_BHTK: Tensor = form(
            query_BHTK,
            key_BHSK,
            value_BHSK,
            scale=self.scale,
            bias_HTS=bias_HTS,
            causal=self.causal,
        )
        return self.output(mixed_BHTK.transpose(1, 2).flatten(2))

    def scores(self, x_BTD: Tensor) -> Tensor:
        """What enters the softmax, [B, H, T, T]; -inf where the mask forbids."""
        query_BHTK, key_BHTK, _ = self.project(x_BTD, None)
        return attention_op.scores(
            query_BHTK,
            key_BHTK,
            scale=self.scale,
            bias_HTS=self._bias(query_BHTK, key_BHTK),
            causal=self.causal,
        )

    def project(self, x_BTD: Tensor, cache: Cache | None) -> tuple[Tensor, Tensor, Tensor]:
        """Query [B, H, T, K], key and value [B, H, S, K], turned by RoPE if that is asked for."""
        batch, new, _ = x_BTD.shape
        query_BHTK, key_BHTK, value_BHTK = (
            part.view(batch, new, self.n_heads, self.head_width).transpose(1, 2)
            for part in self.query_key_value(x_BTD).chunk(3, dim=-1)
        )
        if self.positions == "rope":
            first = 0 if cache is None else cache.length
            query_BHTK, key_BHTK = rotate(query_BHTK, first), rotate(key_BHTK, first)
        if cache is None:
            return query_BHTK, key_BHTK, value_BHTK
        return query_BHTK, cache.extend("key", key_BHTK), cache.extend("value", value_BHTK)

    def _bias(self, query_BHTK: Tensor, key_BHSK: Tensor) -> Tensor | None:
        if self.positions != "alibi":
            return None
        n_queries, n_keys = query_BHTK.shape[-2], key_BHSK.shape[-2]
        bias_HTS = alibi_bias(self.n_heads, n_queries, n_keys, device=query_BHTK.device)
        return bias_HTS.to(query_BHTK.dtype)


def attention_layers(model: nn.Module) -> list[SelfAttention]:
    """All attention layers of a model, first block first; empty if it has none."""
    return [module for module in model.modules() if isinstance(module, SelfAttention)]


@torch.no_grad()
def attention_weights(layer: SelfAttention, x_BTD: Tensor) -> Tensor:
    """The weights after the softmax for this input of the layer, [B, H, T, T]."""
    return layer.scores(x_BTD).softmax(-1)
