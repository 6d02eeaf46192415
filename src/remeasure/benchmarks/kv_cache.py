"""What keeping keys and values saves when a model writes token by token, and what they weigh.

Section: the companion chapter's remark on keys and values that need not be computed again. A small
model of GPT-2's block shape, untrained, writes tokens greedily with a cache; then each of them is
predicted again without it, by one forward over the whole prefix. Shapes: S tokens of the prefix, V
vocabulary.
"""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from remeasure.benchmarks.timing import choose_device, summary, timed
from remeasure.models.build import build
from remeasure.models.cache import ModelCache
from remeasure.models.language_model import LanguageModel
from remeasure.params.benchmarks import KVCacheSettings
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.reading import check
from remeasure.progress import Progress
from remeasure.records.protocol import protocol

ADDRESS = "benchmarks.kv_cache"
BYTES_A_NUMBER = 4
FIRST_TOKEN = 0
WARM_UP_STEPS = 10


@torch.no_grad()
def measure(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Logits with and without the cache at every generated token, and what each way costs.

    `max_logit_diff`: the largest difference between the two over all steps, to be seen beside
    `mean_logit_magnitude`; `same_token`: the steps at which both would choose the same next token.
    `rows`: milliseconds a token (median and quartiles over neighbouring tokens) against `prefix`,
    the mean number of tokens read so far. `slopes`: milliseconds that 1,000 more tokens of prefix
    add, from a straight line through the medians. `bytes`: memory of the full cache, and
    2 x blocks x heads x head width x tokens x 4. Raises ParameterError for settings that cannot be
    used.
    """
    checked = check(KVCacheSettings, settings, ADDRESS)
    device = choose_device(checked.device, f"{ADDRESS}.device")
    model = _model(checked).to(device).eval()
    ids_1S = torch.full((1, 1), FIRST_TOKEN, device=device)
    for _ in range(WARM_UP_STEPS):
        _next_logits(model, ids_1S, None)
    cache = ModelCache(checked.n_blocks, checked.tokens)
    logits: list[Tensor] = []
    ms_cached: list[float] = []
    ms_uncached: list[float] = []
    max_diff, same_token = 0.0, 0
    with Progress("benchmark@kv_cache", 2 * checked.tokens, "token") as progress:
        for _ in range(checked.tokens):
            logits_V, ms = timed(partial(_next_logits, model, ids_1S, cache), device)
            ids_1S = torch.cat([ids_1S, logits_V.argmax()[None, None]], dim=1)
            logits.append(logits_V)
            ms_cached.append(ms)
            progress.advance("with the cache")
        for prefix, cached_V in enumerate(logits, start=1):
            logits_V, ms = timed(partial(_next_logits, model, ids_1S[:, :prefix], None), device)
            max_diff = max(max_diff, float((logits_V - cached_V).abs().max()))
            same_token += int(logits_V.argmax() == ids_1S[0, prefix])
            ms_uncached.append(ms)
            progress.advance("without the cache")
    rows = _rows(checked.window, ms_cached, ms_uncached)
    return {
        "protocol": protocol(settings_digest(checked), None, 1.0),
        "device": device.type,
        "tokens": checked.tokens,
        "distinct_tokens": len(ids_1S.unique()),
        "max_logit_diff": max_diff,
        "mean_logit_magnitude": float(torch.stack(logits).abs().mean()),
        "same_token": same_token,
        "slopes": {way: _slope(rows, f"ms_{way}") for way in ("cached", "uncached")},
        "bytes": {"measured": cache.bytes, "formula": _formula_bytes(checked)},
        "rows": rows,
    }


def _model(settings: KVCacheSettings) -> LanguageModel:
    """GPT-2's block (Radford et al. 2019): pre-norm, GELU four times as wide, biases throughout."""
    torch.manual_seed(settings.seed)
    spec = ModelSpec(
        d_model=settings.d_model,
        context=settings.tokens,
        n_blocks=settings.n_blocks,
        n_heads=settings.n_heads,
        d_head=None,
        mixer="attention",
        scale=True,
        causal=True,
        qkv_bias=True,
        output_projection=True,
        residual=True,
        ffn="gelu",
        ffn_multiple=4,
        norm="pre",
        pos="learned",
        n_positions=None,
        # Tied and untrained, a model repeats its first token for ever.
        tie_embeddings=False,
        output_bias=False,
        dropout=0.0,
    )
    return build(spec, settings.vocab_size)


def _next_logits(model: LanguageModel, ids_1S: Tensor, cache: ModelCache | None) -> Tensor:
    """Logits after the last token, [V]. Reads what the cache has not seen; all without a cache."""
    unread_1T = ids_1S if cache is None else ids_1S[:, cache.length :]
    logits_V: Tensor = model.output(model.features(unread_1T, cache)[0, -1])
    return logits_V


def _rows(
    window: int, ms_cached: Sequence[float], ms_uncached: Sequence[float]
) -> list[dict[str, Any]]:
    """One row for each `window` of neighbouring tokens, the first of which read a prefix of one."""
    return [
        {
            "prefix": start + (window + 1) / 2,
            "ms_cached": summary(ms_cached[start : start + window]),
            "ms_uncached": summary(ms_uncached[start : start + window]),
        }
        for start in range(0, len(ms_cached), window)
    ]


def _slope(rows: Sequence[Mapping[str, Any]], column: str) -> float:
    """Of a straight line through the medians, in milliseconds for 1,000 tokens of prefix."""
    prefixes = [row["prefix"] for row in rows]
    medians = [row[column]["median"] for row in rows]
    return 1000 * statistics.linear_regression(prefixes, medians).slope


def _formula_bytes(settings: KVCacheSettings) -> int:
    head_width = settings.d_model // settings.n_heads
    per_token = 2 * settings.n_blocks * settings.n_heads * head_width * BYTES_A_NUMBER
    return per_token * settings.tokens
