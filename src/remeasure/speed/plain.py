"""The reference: the chapter's model and loop as one writes them in PyTorch at first.

Nothing is fused, chunked or tuned: three projections for query, key and value, the scores written
out, `F.cross_entropy` on all logits, AdamW as it comes. It computes what `models` computes.

Shapes: B batch, T tokens, D width, H heads, K head width, V vocabulary, N tokens of a text.
"""

import math
import time

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from remeasure.params.model import ModelSpec


class PlainAttention(nn.Module):
    """Causal self-attention with one linear layer each for query, key and value."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        self.n_heads, width = spec.n_heads, spec.n_heads * spec.head_width
        self.query = nn.Linear(spec.d_model, width, bias=spec.qkv_bias)
        self.key = nn.Linear(spec.d_model, width, bias=spec.qkv_bias)
        self.value = nn.Linear(spec.d_model, width, bias=spec.qkv_bias)
        self.output = nn.Linear(width, spec.d_model)
        self.mask_TT = torch.ones(spec.context, spec.context).tril() == 0

    def forward(self, x_BTD: Tensor) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        query_BHTK = self._heads(self.query(x_BTD))
        key_BHTK = self._heads(self.key(x_BTD))
        value_BHTK = self._heads(self.value(x_BTD))
        scores_BHTT = query_BHTK @ key_BHTK.transpose(-2, -1) / math.sqrt(query_BHTK.shape[-1])
        length = x_BTD.shape[1]
        scores_BHTT = scores_BHTT.masked_fill(self.mask_TT[:length, :length], float("-inf"))
        mixed_BHTK = F.softmax(scores_BHTT, dim=-1) @ value_BHTK
        return self.output(mixed_BHTK.transpose(1, 2).flatten(2))

    def _heads(self, x_BTD: Tensor) -> Tensor:
        batch, length, width = x_BTD.shape
        return x_BTD.view(batch, length, self.n_heads, width // self.n_heads).transpose(1, 2)


class PlainBlock(nn.Module):
    """A pre-norm block: attention and a GELU layer, each added to its input."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        hidden = spec.ffn_multiple * spec.d_model
        self.attention_norm, self.attention = nn.LayerNorm(spec.d_model), PlainAttention(spec)
        self.feed_forward_norm = nn.LayerNorm(spec.d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(spec.d_model, hidden), nn.GELU(), nn.Linear(hidden, spec.d_model)
        )

    def forward(self, x_BTD: Tensor) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        x_BTD = x_BTD + self.attention(self.attention_norm(x_BTD))
        return x_BTD + self.feed_forward(self.feed_forward_norm(x_BTD))


class PlainModel(nn.Module):
    """Token and learned position embeddings, pre-norm blocks, a norm, an output layer.

    With `mixer: none` it is the embedding and the output layer alone. Raises ValueError for a
    description of anything else.
    """

    def __init__(self, spec: ModelSpec, vocab_size: int) -> None:
        super().__init__()
        kind = (spec.mixer, spec.pos, spec.norm, spec.ffn, spec.scale, spec.causal)
        blocks = kind == ("attention", "learned", "pre", "gelu", True, True)
        if not blocks and kind[:4] != ("none", "none", "none", "none"):
            raise ValueError(f"no plain model is written for {spec}")
        self.embedding = nn.Embedding(vocab_size, spec.d_model)
        self.positions = nn.Embedding(spec.position_rows, spec.d_model) if blocks else None
        self.blocks = nn.ModuleList(PlainBlock(spec) for _ in range(spec.n_blocks * blocks))
        self.norm = nn.LayerNorm(spec.d_model) if blocks else nn.Identity()
        self.output = nn.Linear(spec.d_model, vocab_size)

    def forward(self, ids_BT: Tensor) -> Tensor:
        """Logits of the next token, [B, T, V]."""
        x_BTD = self.embedding(ids_BT)
        if self.positions is not None:
            x_BTD = x_BTD + self.positions(torch.arange(ids_BT.shape[1]))
        for block in self.blocks:
            x_BTD = block(x_BTD)
        return self.output(self.norm(x_BTD))


def train_plainly(
    model: PlainModel, ids_N: Tensor, context: int, batch_size: int, steps: int
) -> list[float]:
    """Train `model` on random windows; returns the seconds that each step took."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        starts_B = torch.randint(len(ids_N) - context, (batch_size,))
        ids_BT = torch.stack([ids_N[i : i + context] for i in starts_B])
        next_BT = torch.stack([ids_N[i + 1 : i + context + 1] for i in starts_B])
        logits_BTV = model(ids_BT)
        loss = F.cross_entropy(logits_BTV.flatten(0, 1), next_BT.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return seconds
