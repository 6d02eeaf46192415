"""What a language model may be made of: an ablation is such a description, no branch in code."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from remeasure.params.reading import Settings

Width = Annotated[int, Field(ge=1, le=65536)]
Count = Annotated[int, Field(ge=1, le=1024)]


class ModelSpec(Settings):
    """A complete language model: embedding, positions, blocks, output layer.

    `base` in params.yaml is the chapter's transformer block; every field is described there.
    Raises (through `params.reading.check`) for combinations that make no model.
    """

    d_model: Width
    context: Width
    n_blocks: Count
    n_heads: Count
    d_head: Width | None
    mixer: Literal["none", "uniform", "attention"]
    scale: bool
    causal: bool
    qkv_bias: bool
    output_projection: bool
    residual: bool
    ffn: Literal["none", "gelu"]
    ffn_multiple: Annotated[int, Field(ge=1, le=64)]
    norm: Literal["none", "pre", "post"]
    pos: Literal["none", "learned", "sinusoidal", "rope", "alibi"]
    n_positions: Width | None
    tie_embeddings: bool
    output_bias: bool
    dropout: Annotated[float, Field(ge=0, lt=1)]

    @property
    def head_width(self) -> int:
        """Width of one head, d_k: the heads share out d_model unless `d_head` says other."""
        return self.d_head if self.d_head is not None else self.d_model // self.n_heads

    @property
    def position_rows(self) -> int:
        """Rows of the table of learned positions: the context unless `n_positions` says other."""
        return self.n_positions if self.n_positions is not None else self.context

    @model_validator(mode="after")
    def _makes_a_model(self) -> "ModelSpec":
        if self.mixer == "attention":
            self._heads_fit()
        elif self.pos in ("rope", "alibi"):
            raise ValueError(
                f"pos {self.pos} acts on attention scores, so mixer must be attention,"
                f" not {self.mixer}"
            )
        if self.pos == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"pos sinusoidal needs an even d_model, not {self.d_model}")
        if self.pos == "learned" and self.position_rows < self.context:
            raise ValueError(
                f"n_positions {self.position_rows} is shorter than the context of {self.context}"
            )
        return self

    def _heads_fit(self) -> None:
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(
                f"d_model {self.d_model} is not divisible by n_heads {self.n_heads};"
                " change one of them or give d_head"
            )
        if not self.output_projection and self.n_heads * self.head_width != self.d_model:
            raise ValueError(
                f"without output_projection n_heads x d_head must be d_model:"
                f" {self.n_heads} x {self.head_width} is not {self.d_model}"
            )
        if self.pos == "rope" and self.head_width % 2:
            raise ValueError(f"pos rope needs an even head width, not {self.head_width}")
