"""How large, how often and under which memory limit this machine is measured."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from remeasure.errors import ParameterError
from remeasure.params.model import Count, Width
from remeasure.params.reading import Settings, check, section

Device = Literal["auto", "cpu", "cuda"]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


class AttentionCostSettings(Settings):
    """One attention layer at growing numbers of tokens.

    A size is timed `repeats` times, or until `seconds` are spent, but at least three times.
    `memory_limit_gb` is what a measurement may allocate, in units of 2^30 bytes; None for no limit.
    """

    tokens: Annotated[
        tuple[Annotated[int, Field(ge=1, le=2**20)], ...], Field(strict=False, min_length=2)
    ]
    d_model: Width
    n_heads: Count
    repeats: Annotated[int, Field(ge=3, le=10_000)]
    seconds: Annotated[float, Field(ge=0, le=3600)]
    memory_limit_gb: Annotated[float, Field(gt=0, le=2**20)] | None
    device: Device
    seed: Seed

    @model_validator(mode="after")
    def _sizes_double_and_heads_fit(self) -> "AttentionCostSettings":
        for smaller, larger in pairwise(self.tokens):
            if larger != 2 * smaller:
                raise ValueError(
                    f"each number of tokens must be twice the one before it, and {larger} is not"
                    f" twice {smaller}"
                )
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} is not divisible by n_heads {self.n_heads}")
        return self


class KVCacheSettings(Settings):
    """A small model of GPT-2's block shape that generates `tokens` tokens.

    Times are summed up over windows of `window` tokens, of which there are at least two.
    """

    tokens: Width
    window: Width
    d_model: Width
    n_blocks: Count
    n_heads: Count
    vocab_size: Width
    device: Device
    seed: Seed

    @model_validator(mode="after")
    def _windows_and_heads_fit(self) -> "KVCacheSettings":
        if self.tokens % self.window or self.tokens < 2 * self.window:
            raise ValueError(
                f"tokens {self.tokens} must be two or more times the window of {self.window}"
            )
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} is not divisible by n_heads {self.n_heads}")
        return self


BENCHMARKS: Mapping[str, type[Settings]] = {
    "attention_cost": AttentionCostSettings,
    "kv_cache": KVCacheSettings,
}
"""Each benchmark and what may be set for it; the module of the same name measures it."""


def benchmark_settings(params: Mapping[str, Any], name: str) -> Settings:
    """The settings `benchmarks.<name>`. Raises ParameterError."""
    if name not in BENCHMARKS:
        raise ParameterError(f"benchmarks.{name}: no such benchmark; {', '.join(BENCHMARKS)} are")
    where = f"benchmarks.{name}"
    return check(BENCHMARKS[name], section(params, where), where)
