"""Time and memory of one attention layer as the tokens double. Section: the cost of attention.

The layer is the chapter's, forward only, without gradients; beside it stands the same layer with a
fused kernel (Dao et al. 2022), which never stores the matrix of scores. Each form at each size is
measured in a process of its own that has a memory limit. Shapes: B batch (one), T tokens, D width,
H heads, K head width.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from remeasure.benchmarks.child import in_child
from remeasure.benchmarks.memory import MEGABYTE, OutOfMemory, limit_memory, peak_bytes
from remeasure.benchmarks.timing import choose_device, repeated
from remeasure.models.mixers import SelfAttention
from remeasure.params.benchmarks import AttentionCostSettings
from remeasure.params.digest import settings_digest
from remeasure.params.reading import check
from remeasure.progress import Progress
from remeasure.records.protocol import protocol

ADDRESS = "benchmarks.attention_cost"
BYTES_A_SCORE = 4
ROWS_FITTED = 4
"""The last four rows give the exponents, as in the chapter."""
WARM_UP_TOKENS = 256
"""Enough for every thread to have work, so that all of them have started."""

Form = Callable[[SelfAttention, Tensor], Tensor]
Row = dict[str, Any]


def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Milliseconds and megabytes (2^20 bytes) at each number of tokens, and how they grow.

    `ms_total` and `peak_mb` are the layer with its scores written out, None where it ran out of
    memory; `fused` is the same layer with F.scaled_dot_product_attention in their place, `max_diff`
    the largest difference between the two outputs. `ms_projections` are the layer's projections
    alone. Peaks count weights, input and all that is in between. `ratio` is to the row above. See
    `growth` for the rest. Raises ParameterError for settings that cannot be used, OutOfMemory if
    not even the fused form fits into the limit.
    """
    checked = check(AttentionCostSettings, settings, ADDRESS)
    device = choose_device(checked.device, f"{ADDRESS}.device")
    rows: list[Row] = []
    with Progress("benchmark@attention_cost", len(checked.tokens), "size") as progress:
        for tokens in checked.tokens:
            rows.append(_row(checked, device, tokens))
            progress.advance(f"{tokens} tokens")
    return {
        "protocol": protocol(settings_digest(checked), None, 1.0),
        "device": device.type,
        "memory_limit_gb": checked.memory_limit_gb,
        "out_of_memory_at": next((row["tokens"] for row in rows if row["out_of_memory"]), None),
        **growth(rows),
        "rows": _with_ratios(rows),
    }


def growth(rows: Sequence[Row]) -> dict[str, Any]:
    """How rows grow with the tokens: slopes of logarithms over the last four, and ratios.

    Rows that ran out of memory are left out, except for the fused form. `projections` compares the
    first and the last of those four rows. None where fewer than two rows are left.
    """
    last = [row for row in rows if not row["out_of_memory"]][-ROWS_FITTED:]
    last_fused = rows[-ROWS_FITTED:]
    return {
        "exponents": {
            "time": _exponent(last, "ms_total.median"),
            "memory": _exponent(last, "peak_mb"),
            "fused_time": _exponent(last_fused, "fused.ms.median"),
            "fused_memory": _exponent(last_fused, "fused.peak_mb"),
        },
        "last_doubling": {
            "time": _ratio(last[-2:], "ms_total.median"),
            "memory": _ratio(last[-2:], "peak_mb"),
        },
        "projections": {
            "tokens_ratio": _ratio(last, "tokens"),
            "time_ratio": _ratio(last, "ms_projections.median"),
        },
    }


def _row(settings: AttentionCostSettings, device: torch.device, tokens: int) -> Row:
    linear = in_child(_measure_fused, settings, device, tokens)
    try:
        explicit = in_child(_measure_explicit, settings, device, tokens)
    except OutOfMemory:
        explicit = {"ms": None, "peak_mb": None, "max_diff": None}
    return {
        "tokens": tokens,
        "ms_total": explicit["ms"],
        "ms_projections": linear["ms_projections"],
        "score_matrix_mb": settings.n_heads * tokens**2 * BYTES_A_SCORE / MEGABYTE,
        "peak_mb": explicit["peak_mb"],
        "out_of_memory": explicit["ms"] is None,
        "fused": {
            "ms": linear["ms"],
            "peak_mb": linear["peak_mb"],
            "max_diff": explicit["max_diff"],
        },
    }


def _measure_explicit(
    settings: AttentionCostSettings, device: torch.device, tokens: int
) -> dict[str, Any]:
    """In a child: the layer as it is, and how far the fused form's output is from its own."""
    costs, layer, x_BTD = _measure_form(_explicit, settings, device, tokens)
    with torch.no_grad():
        max_diff = float((_explicit(layer, x_BTD) - _fused(layer, x_BTD)).abs().max())
    return {**costs, "max_diff": max_diff}


def _measure_fused(
    settings: AttentionCostSettings, device: torch.device, tokens: int
) -> dict[str, Any]:
    """In a child: the layer with the fused kernel, and its projections alone."""
    costs, layer, x_BTD = _measure_form(_fused, settings, device, tokens)
    with torch.no_grad():
        ms_projections = repeated(
            lambda: _projections(layer, x_BTD),
            device,
            repeats=settings.repeats,
            seconds=settings.seconds,
        )
    return {**costs, "ms_projections": ms_projections}


@torch.no_grad()
def _measure_form(
    form: Form, settings: AttentionCostSettings, device: torch.device, tokens: int
) -> tuple[dict[str, Any], SelfAttention, Tensor]:
    """Limit this process's memory, then measure peak and time of a form; also what it ran on."""
    # What the libraries and the profiler keep for themselves is there before the limit is.
    peak_bytes(lambda: form(*_layer_and_input(settings, device, WARM_UP_TOKENS)), device)
    limit_memory(settings.memory_limit_gb, device)
    peak = peak_bytes(lambda: form(*_layer_and_input(settings, device, tokens)), device)
    layer, x_BTD = _layer_and_input(settings, device, tokens)
    ms = repeated(
        lambda: form(layer, x_BTD), device, repeats=settings.repeats, seconds=settings.seconds
    )
    return {"ms": ms, "peak_mb": peak / MEGABYTE}, layer, x_BTD


def _layer_and_input(
    settings: AttentionCostSettings, device: torch.device, tokens: int
) -> tuple[SelfAttention, Tensor]:
    """The same layer and the same input [1, T, D] in every process."""
    torch.manual_seed(settings.seed)
    layer = SelfAttention(
        settings.d_model,
        settings.n_heads,
        settings.d_model // settings.n_heads,
        scale=True,
        causal=True,
        positions="none",
        qkv_bias=False,
        output_projection=True,
        dropout=0.0,
    ).to(device)
    return layer, torch.randn(1, tokens, settings.d_model, device=device)


def _explicit(layer: SelfAttention, x_BTD: Tensor) -> Tensor:
    output_BTD: Tensor = layer(x_BTD)
    return output_BTD


def _fused(layer: SelfAttention, x_BTD: Tensor) -> Tensor:
    query_BHTK, key_BHTK, value_BHTK = layer.project(x_BTD, None)
    mixed_BHTK = F.scaled_dot_product_attention(query_BHTK, key_BHTK, value_BHTK, is_causal=True)
    output_BTD: Tensor = layer.output(mixed_BHTK.transpose(1, 2).flatten(2))
    return output_BTD


def _projections(layer: SelfAttention, x_BTD: Tensor) -> None:
    """Query, key and value of every token, and the output projection of as many vectors."""
    layer.project(x_BTD, None)
    layer.output(x_BTD)


def _column(rows: Sequence[Row], address: str) -> list[float]:
    values: list[Any] = list(rows)
    for key in address.split("."):
        values = [value[key] for value in values]
    return values


def _exponent(rows: Sequence[Row], address: str) -> float | None:
    if len(rows) < 2:
        return None
    tokens, values = _column(rows, "tokens"), _column(rows, address)
    return statistics.linear_regression(
        [math.log(count) for count in tokens], [math.log(value) for value in values]
    ).slope


def _ratio(rows: Sequence[Row], address: str) -> float | None:
    values = _column(rows, address)
    return values[-1] / values[0] if len(values) > 1 else None


def _with_ratios(rows: Sequence[Row]) -> list[Row]:
    """Each row with its time and memory over those of the row above, None where one is missing."""
    done: list[Row] = []
    for index, row in enumerate(rows):
        pair = [] if row["out_of_memory"] else rows[max(0, index - 1) : index + 1]
        ratio = {"time": _ratio(pair, "ms_total.median"), "memory": _ratio(pair, "peak_mb")}
        done.append({**row, "ratio": ratio})
    return done
