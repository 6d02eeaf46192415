"""What each probe measures over: seeds, sizes, models.

A field of type ModelSpec (or a mapping of them) stands in params.yaml as the keys in which the
model differs from `base`; here it is complete.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from remeasure.errors import ParameterError
from remeasure.params.ablations import resolve
from remeasure.params.model import Count, ModelSpec, Width
from remeasure.params.reading import Settings, check, mapping
from remeasure.params.training import Seeds

Seed = Annotated[int, Field(ge=0, lt=2**31)]
Size = Annotated[int, Field(ge=1, le=1_000_000)]
Several = Annotated[int, Field(ge=2, le=1_000_000)]
Widths = Annotated[tuple[Width, ...], Field(strict=False, min_length=1)]
Models = dict[str, ModelSpec]


class AveragingSettings(Settings):
    """One window of `tokens` random vectors of width `d_model`; `rows` of the matrix are shown."""

    seed: Seed
    tokens: Several
    d_model: Width
    rows: Count


class SymmetrySettings(Settings):
    """A model without order, models that have one each in its own way, and one with RoPE.

    RoPE's scores are compared at the start of a window and behind `offsets` further tokens.
    """

    seed: Seed
    unordered: ModelSpec
    ordered: Annotated[Models, Field(min_length=1)]
    rope: ModelSpec
    offsets: Annotated[tuple[Size, ...], Field(strict=False, min_length=1)]

    @model_validator(mode="after")
    def _fits_the_experiment(self) -> "SymmetrySettings":
        _needs_attention(self.rope, "rope")
        if self.rope.pos != "rope" or self.rope.causal:
            raise ValueError("rope needs pos rope and causal false: scores without a mask")
        return self


class PositionDefinitionsSettings(Settings):
    """Positions 0 to `tokens` - 1; ALiBi's slopes for each number of heads in `heads`."""

    seed: Seed
    tokens: Annotated[int, Field(ge=2, le=4096)]
    d_model: Annotated[int, Field(ge=2, le=4096, multiple_of=2)]
    head_width: Annotated[int, Field(ge=2, le=4096, multiple_of=2)]
    heads: Annotated[tuple[Count, ...], Field(strict=False, min_length=1)]


class ScoreVarianceSettings(Settings):
    """`pairs` random pairs of query and key at each width."""

    seed: Seed
    widths: Widths
    pairs: Several


class SoftmaxRowSettings(Settings):
    """One row of scores over `tokens` keys at each width."""

    seed: Seed
    widths: Widths
    tokens: Several


class SoftmaxJacobianSettings(Settings):
    """`rows` rows of scores over `tokens` keys at each width."""

    seed: Seed
    widths: Widths
    tokens: Several
    rows: Size


class EquivalenceSettings(Settings):
    """One attention layer and a batch of windows of random vectors for it."""

    seed: Seed
    batch_size: Count
    tokens: Several
    d_model: Width
    n_heads: Count

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "EquivalenceSettings":
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} is not divisible by n_heads {self.n_heads}")
        return self


class ParametersSettings(Settings):
    """Models whose parameters are counted; the rungs carry the names of their ablations."""

    gpt2: ModelSpec
    gpt2_vocab_size: Size
    head: ModelSpec
    heads: ModelSpec
    feed_forward: ModelSpec
    one_block: ModelSpec
    widths: Widths


class GradientNormsSettings(Settings):
    """Two arrangements of the LayerNorm; the gradient is that of `batch_size` windows."""

    seeds: Seeds
    batch_size: Size
    pre: ModelSpec
    post: ModelSpec

    @model_validator(mode="after")
    def _have_the_matrices(self) -> "GradientNormsSettings":
        for name, spec in (("pre", self.pre), ("post", self.post)):
            _needs_attention(spec, name)
            if not spec.output_projection:
                raise ValueError(f"{name} needs output_projection true: W_o is measured")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds {list(self.seeds)} name one seed twice")
        return self


class ResidualStreamSettings(Settings):
    """One initialised model and the windows of text that it reads."""

    seed: Seed
    windows: Size
    model: ModelSpec

    @model_validator(mode="after")
    def _has_a_stream(self) -> "ResidualStreamSettings":
        if self.model.norm != "pre" or not self.model.residual:
            raise ValueError(
                "model needs norm pre and residual true: otherwise what a sub-layer wrote does not"
                " reach the end as it was"
            )
        return self


PROBES: dict[str, type[Settings]] = {
    "averaging": AveragingSettings,
    "symmetry": SymmetrySettings,
    "position_definitions": PositionDefinitionsSettings,
    "score_variance": ScoreVarianceSettings,
    "softmax_row": SoftmaxRowSettings,
    "softmax_jacobian": SoftmaxJacobianSettings,
    "equivalence": EquivalenceSettings,
    "parameters": ParametersSettings,
    "gradient_norms": GradientNormsSettings,
    "residual_stream": ResidualStreamSettings,
}
"""Each probe and what may be set for it; the module of the same name measures it."""


def probe_settings(params: Mapping[str, Any], name: str) -> Settings:
    """The settings `probes.<name>`, their models completed by `base`. Raises ParameterError."""
    if name not in PROBES:
        raise ParameterError(f"{name!r} is no probe; there are: {', '.join(PROBES)}")
    where = f"probes.{name}"
    entry, base = mapping(params, where), mapping(params, "base")
    kinds = {key: field.annotation for key, field in PROBES[name].model_fields.items()}
    complete = {
        key: _complete(kinds.get(key), value, base, f"{where}.{key}")
        for key, value in entry.items()
    }
    return check(PROBES[name], complete, where)


def _complete(kind: Any, value: Any, base: Mapping[str, Any], where: str) -> Any:
    if kind not in (ModelSpec, Models):
        return value
    if not isinstance(value, Mapping):
        raise ParameterError(f"{where}: {value!r} is no mapping of keys")
    if kind is ModelSpec:
        return resolve(base, value, where)
    return {
        name: _complete(ModelSpec, keys, base, f"{where}.{name}") for name, keys in value.items()
    }


def _needs_attention(spec: ModelSpec, name: str) -> None:
    if spec.mixer != "attention":
        raise ValueError(f"{name} needs mixer attention, not {spec.mixer}")
