"""The other parts: positions added to the embedding, the feed-forward layer, sub-layer and block.

Shapes: B batch, T tokens, D width, P positions.
"""

from torch import Tensor, nn

from remeasure.models.cache import Cache
from remeasure.ops.blocked_feed_forward import blocked_feed_forward
from remeasure.ops.positions import sinusoids


class LearnedPositions(nn.Module):
    """One learned vector a position, added to the token's. The table has `n_positions` rows."""

    def __init__(self, n_positions: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(n_positions, d_model)

    def forward(self, x_BTD: Tensor, first_position: int) -> Tensor:
        """[B, T, D] to [B, T, D]. Raises ValueError past the last row of the table."""
        end, rows = first_position + x_BTD.shape[-2], self.table.num_embeddings
        if end > rows:
            raise ValueError(f"position {end - 1} has no row in a table of {rows} positions")
        return x_BTD + self.table.weight[first_position:end]


class SinusoidalPositions(nn.Module):
    """Fixed sines and cosines added to the token's vector, at any position."""

    def forward(self, x_BTD: Tensor, first_position: int) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        end = first_position + x_BTD.shape[-2]
        table_PD = sinusoids(end, x_BTD.shape[-1]).to(x_BTD)
        return x_BTD + table_PD[first_position:]


class NoPositions(nn.Module):
    """Adds nothing: the model has no positions, or they act on the attention scores."""

    def forward(self, x_BTD: Tensor, first_position: int) -> Tensor:
        """The input as it is; `first_position` is not used."""
        return x_BTD


class FeedForward(nn.Module):
    """Two linear layers with GELU between them, at each position by itself."""

    def __init__(self, d_model: int, d_hidden: int) -> None:
        super().__init__()
        self.expand = nn.Linear(d_model, d_hidden)
        self.contract = nn.Linear(d_hidden, d_model)

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """[B, T, D] to [B, T, D]; `cache` is not used, since positions do not meet here."""
        if x_BTD.requires_grad and x_BTD.device.type == "cpu":
            layers = (self.expand, self.contract)
            weights = (tensor for layer in layers for tensor in (layer.weight, layer.bias))
            return blocked_feed_forward(x_BTD.flatten(0, -2), *weights).view_as(x_BTD)
        return self.contract(nn.functional.gelu(self.expand(x_BTD)))


class SubLayer(nn.Module):
    """What surrounds a mixer or a feed-forward layer: norms, dropout and the residual connection.

    Pre-norm has its LayerNorm in `norm_before`, post-norm in `norm_after`, on the residual path
    itself; nn.Identity stands for none. Without `residual` the output replaces the input.
    """

    def __init__(
        self,
        inner: nn.Module,
        norm_before: nn.Module,
        norm_after: nn.Module,
        *,
        residual: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.norm_before, self.inner, self.norm_after = norm_before, inner, norm_after
        self.dropout = nn.Dropout(dropout)
        self.residual = residual

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        written_BTD = self.written(x_BTD, cache)
        return self.norm_after(x_BTD + written_BTD if self.residual else written_BTD)

    def written(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """What this sub-layer writes to the residual stream, before the addition: [B, T, D]."""
        return self.dropout(self.inner(self.norm_before(x_BTD), cache))


class Block(nn.Module):
    """Sub-layers one after the other: attention and feed-forward in the chapter's block."""

    def __init__(self, sublayers: list[SubLayer]) -> None:
        super().__init__()
        self.sublayers = nn.ModuleList(sublayers)

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """[B, T, D] to [B, T, D]."""
        for sublayer in self.sublayers:
            x_BTD = sublayer(x_BTD, cache)
        return x_BTD


def layer_norm(wanted: bool, d_model: int) -> nn.Module:
    """A LayerNorm over the features (Ba, Kiros and Hinton 2016), or nothing."""
    return nn.LayerNorm(d_model) if wanted else nn.Identity()


def parameter_count(module: nn.Module) -> int:
    """Trained numbers in a module, a shared one counted once."""
    return sum(parameter.numel() for parameter in module.parameters())
