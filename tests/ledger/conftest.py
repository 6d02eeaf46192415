"""Synthetic records, built from the record contract alone, in which every claim holds."""

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from remeasure.ledger.claims import Claims, read_claims
from remeasure.ledger.values import split_address
from remeasure.records.spread import spread

ROOT = Path(__file__).parents[2]
SEEDS = 5
NOISE = 0.003

PERPLEXITIES = {
    "no_context": 59.71,
    "uniform": 248.45,
    "uniform_positions": 246.31,
    "uniform_residual": 60.45,
    "uniform_residual_positions": 60.9,
    "head_replacing": 55.45,
    "head": 46.45,
    "heads": 43.45,
    "feed_forward": 39.87,
    "one_block": 38.07,
    "two_blocks": 40.57,
    "scaling_32_undivided": 38.07,
    "scaling_128_divided": 39.0,
    "scaling_128_undivided": 39.5,
    "scaling_short_128_divided": 45.0,
    "scaling_short_128_undivided": 58.0,
    "scaling_short_256_divided": 44.67,
    "scaling_short_256_undivided": 62.67,
    "scaling_short_1024_divided": 44.5,
    "scaling_short_1024_undivided": 61.5,
    "norm_pre": 37.82,
    "norm_pre_warmup": 37.62,
    "norm_post": 308.05,
    "norm_post_warmup": 37.88,
    "positions_none": 47.0,
    "positions_learned": 43.0,
    "positions_sinusoidal": 44.0,
    "positions_rope": 43.9,
    "positions_alibi": 44.95,
    "dropout_one_block_10": 37.5,
    "dropout_one_block_20": 37.9,
    "dropout_two_blocks_10": 38.0,
    "dropout_two_blocks_20": 37.4,
    "leak": 1.02,
}
TRAINING = {"one_block": 18.77, "two_blocks": 14.49, "leak": 1.02}
WINDOWS = {
    "positions_none": (47.0, 60.0, 90.0),
    "positions_learned": (43.0, 90.0, 200.0),
    "positions_sinusoidal": (44.0, 60.0, 90.0),
    "positions_rope": (43.9, 46.0, 52.0),
    "positions_alibi": (44.95, 43.6, 42.49),
}
ATTENTION = {
    "scaling_short_1024_undivided": ((21.0, 0.1, 0.7), (5147.0, 0.0, 0.999)),
    "scaling_short_1024_divided": ((0.66, 3.9, 0.01), (3.44, 2.0, 0.05)),
}
VARIANCES = {
    4: (3.975, 1.994),
    16: (16.071, 4.009),
    64: (64.249, 8.016),
    256: (253.065, 15.908),
    1024: (1015.562, 31.868),
}
TOKENS = [128 * 2**step for step in range(8)]
MS = [2.246, 2.855, 5.761, 16.414, 51.573, 225.432, 832.838, None]
MS_PROJECTIONS = [1.324, 2.113, 3.105, 4.008, 9.989, 20.176, 40.106, 81.0]
PEAK_MB = [14.6, 19.2, 34.4, 89.1, 296.1, 1100.1, 4300.1, None]


def seeds_around(mean: float, name: str, n: int = SEEDS, noise: float = NOISE) -> dict[str, Any]:
    """A spread of n seeds with exactly this mean, the noise a share of it."""
    draw = random.Random(name)
    steps = [draw.gauss(0, noise * abs(mean)) for _ in range(n)]
    centre = sum(steps) / n
    return spread({seed: mean + step - centre for seed, step in enumerate(steps)})


def ablation(name: str) -> dict[str, Any]:
    perplexity = PERPLEXITIES[name]
    record: dict[str, Any] = {
        "parameters": 477_696,
        "held_out": {
            "perplexity": seeds_around(perplexity, name),
            "bits_per_byte": seeds_around(2.1, f"{name} bits"),
        },
        "training": {"perplexity": seeds_around(TRAINING.get(name, perplexity), f"{name} train")},
    }
    if name in WINDOWS:
        record["by_window"] = {
            str(window): seeds_around(value, f"{name} {window}")
            for window, value in zip((64, 128, 256), WINDOWS[name], strict=True)
        }
    if name == "leak":
        record["evaluated_otherwise"] = {"perplexity": seeds_around(900.0, name)}
    record["attention"] = {
        when: {
            "score_std": seeds_around(std, f"{name} {when} std"),
            "entropy": seeds_around(entropy, f"{name} {when} entropy"),
            "effective_tokens": seeds_around(5.0, f"{name} {when} tokens"),
            "frozen_rows": seeds_around(frozen, f"{name} {when} frozen", noise=1e-5),
        }
        for when, (std, entropy, frozen) in zip(
            ("at_start", "at_end"),
            ATTENTION.get(name, ((0.5, 4.0, 0.01), (2.0, 3.0, 0.02))),
            strict=True,
        )
    }
    return record


def referent(name: str) -> dict[str, Any]:
    accuracy, wrong = {
        "category_uniform": (1.0, 0.0),
        "category_one_block": (0.917, 0.05),
        "category_two_blocks": (0.95, 0.05),
        "pool_uniform": (0.279, 0.5),
        "pool_one_block": (0.927, 0.07),
        "pool_two_blocks": (1.0, 0.0),
    }[name]
    blocks = {"category_two_blocks": 2, "pool_two_blocks": 2}.get(name, 1)
    attention: dict[str, Any] = {"uniform_weight": 1 / 15, "map": {"sentences": []}}
    for block in range(1, blocks + 1):
        prefix = f"{name} block {block}"
        attention |= {
            f"block{block}_weight_on_first_noun": seeds_around(0.7, f"{prefix} first"),
            f"block{block}_crosser_weight_on_adjective": seeds_around(1.0, f"{prefix} crosser"),
            f"block{block}_crossed_weight_on_second_noun": seeds_around(0.49, f"{prefix} crossed"),
            f"block{block}_same": {
                "max_score_diff": seeds_around(1e-7, f"{prefix} scores"),
                "max_weight_diff": seeds_around(0.2, f"{prefix} weights"),
            },
        }
    return {
        "accuracy": seeds_around(accuracy, name),
        "accuracy_among_present": seeds_around(0.9, f"{name} present"),
        "wrong_noun_share": seeds_around(wrong, f"{name} wrong"),
        "settled_at": seeds_around(700.0, f"{name} settled"),
        "attention": attention,
    }


def probes() -> dict[str, dict[str, Any]]:
    widths = tuple(VARIANCES)
    row = {"largest_weight": 0.1, "effective_tokens": 40.0}
    matrix = [[1 / (i + 1) if j <= i else 0.0 for j in range(6)] for i in range(6)]
    sizes = (64, 128, 768, 12288)
    formula = {str(d): 12 * d * d + 13 * d for d in sizes}

    def gradients(first: float, last: float, name: str) -> dict[str, Any]:
        return {
            part: {
                "norms": [seeds_around(first, f"{name} {part} {block}") for block in range(12)],
                "first": seeds_around(first, f"{name} {part} first"),
                "last": seeds_around(last, f"{name} {part} last"),
                "ratio": seeds_around(last / first, f"{name} {part} ratio"),
            }
            for part in ("block", "output_projection", "value")
        }

    return {
        "averaging": {
            "loop_vs_matmul": {"max_diff": 2e-7},
            "loop_vs_softmax": {"max_diff": 2e-7},
            "shuffle": {"max_diff": 6e-8},
            "matrix": matrix,
        },
        "symmetry": {
            "permutation_equivariance": {"max_diff": 7e-7},
            "set_operation": {"max_diff": 3e-7},
            "rope_relative": {"max_diff": 6e-7},
            "order_matters": {"min_diff": 0.05},
        },
        "position_definitions": {
            "sinusoidal": {"max_diff": 0.0},
            "alibi": {"max_diff": 0.0},
            "rope": {"max_diff": 0.0},
        },
        "score_variance": {
            "widths": {
                str(width): {"variance": variance, "std": std, "sqrt_d": width**0.5}
                for width, (variance, std) in VARIANCES.items()
            }
        },
        "softmax_row": {
            "widths": {str(width): {"divided": row, "undivided": row} for width in widths}
        },
        "softmax_jacobian": {
            "widths": {
                str(width): {
                    "divided": {"trace": 0.9585, "frozen_rows": 0.0},
                    "undivided": {
                        "trace": 0.1,
                        "frozen_rows": 0.697,
                        "effective_tokens": {"mean": 1.4, "median": 1.05},
                    },
                }
                for width in widths
            }
        },
        "equivalence": {
            "multihead_attention": {"max_diff": 2e-7},
            "scaled_dot_product_attention": {"max_diff": 2e-7},
            "mean_magnitude": 0.16,
        },
        "parameters": {
            "gpt2": {
                "token_embeddings": 38597376,
                "position_embeddings": 786432,
                "block": 7087872,
                "blocks": 85054464,
                "final_layernorm": 1536,
                "total_tied": 124439808,
                "total_built": 124439808,
            },
            "block_formula": {"formula": formula, "built": formula},
            "ffn_share": {str(d): (8 * d + 5) / (12 * d + 13) for d in sizes},
            "one_block": {"attention": 65664, "feed_forward": 131712},
            "ladder": {"four_heads_extra": 16512, "layernorm_extra": 768},
        },
        "gradient_norms": {
            "pre": gradients(0.0498, 0.0657, "pre"),
            "post": gradients(0.0977, 0.1613, "post"),
        },
        "residual_stream": {"max_diff": 0.0, "logits": {"max_diff": 1e-6}, "pieces": []},
    }


def benchmarks() -> dict[str, dict[str, Any]]:
    def ms(median: float | None) -> dict[str, float] | None:
        return None if median is None else {"median": median, "low": median, "high": median}

    rows = [
        {
            "tokens": tokens,
            "ms_total": ms(total),
            "ms_projections": ms(linear),
            "score_matrix_mb": 8 * tokens**2 * 4 / 2**20,
            "peak_mb": peak,
            "out_of_memory": peak is None,
            "fused": {"ms": ms(1.0), "peak_mb": 10.0, "max_diff": 1e-7},
        }
        for tokens, total, linear, peak in zip(TOKENS, MS, MS_PROJECTIONS, PEAK_MB, strict=True)
    ]
    prefixes = [
        {"prefix": 64 * step + 32.5, "ms_cached": ms(2 + 0.02 * step), "ms_uncached": ms(2 + step)}
        for step in range(16)
    ]
    return {
        "attention_cost": {
            "rows": rows,
            "exponents": {
                "time": 1.91,
                "memory": 1.87,
                "fused_time": 1.8,
                "fused_memory": 1.0,
            },
            "last_doubling": {"time": 3.69, "memory": 3.91},
            "projections": {"tokens_ratio": 8.0, "time_ratio": 10.0},
            "out_of_memory_at": 16384,
            "memory_limit_gb": 8.0,
        },
        "kv_cache": {
            "max_logit_diff": 1e-6,
            "rows": prefixes,
            "slopes": {"cached": 0.3, "uncached": 16.0},
            "bytes": {"measured": 4096, "formula": 4096},
        },
    }


def all_records(claims: Claims) -> dict[str, dict[str, Any]]:
    """By file; protocols as pinned, the chapter's records from the contract, and the others with
    what findings read of them."""
    records = {
        **{f"metrics/ablations/{name}.json": ablation(name) for name in PERPLEXITIES},
        **{f"metrics/probes/{name}.json": record for name, record in probes().items()},
        **{f"metrics/benchmarks/{name}.json": record for name, record in benchmarks().items()},
    }
    for task in ("category", "pool"):
        for model in ("uniform", "one_block", "two_blocks"):
            name = f"{task}_{model}"
            records[f"metrics/referent/{name}.json"] = referent(name)
    written = {*records, "metrics/corpus.json"}
    for finding in claims.findings:
        file, keys = split_address(finding.address)
        if str(file) not in written:
            level = records.setdefault(str(file), {})
            for key in keys[:-1]:
                level = level.setdefault(key, {})
            level[keys[-1]] = seeds_around(1.0, str(file))
    text = claims.protocol.text
    for file, record in records.items():
        pin = claims.protocol.records[file]
        record["protocol"] = {
            "settings": pin.settings,
            "corpus": None if pin.text is None else text.sha256,
            "fraction": 1.0,
        }
    records["metrics/corpus.json"] = {
        "sha256": text.sha256,
        "characters": 1115394,
        "bytes": 1115394,
        "vocab_size": 1024,
        "tokens": 459760,
        "characters_per_token": 1115394 / 459760,
        "training_tokens": 413784,
        "held_out_tokens": 45976,
        "held_out_bytes": 111000,
    }
    return records


def entries_of(claims: Claims) -> dict[str, Any]:
    """A params.yaml in which every pinned experiment has an entry."""
    params: dict[str, Any] = {}
    for pin in claims.protocol.records.values():
        *folders, last = pin.entry.split(".")
        level = params
        for folder in folders:
            level = level.setdefault(folder, {})
        level[last] = {}
    return params


@pytest.fixture(scope="session")
def claims() -> Claims:
    return read_claims(ROOT / "claims.yaml")


@pytest.fixture
def records(claims: Claims) -> dict[str, dict[str, Any]]:
    return all_records(claims)


@pytest.fixture(scope="session")
def entries(claims: Claims) -> dict[str, Any]:
    return entries_of(claims)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, Any]], Path]:
    """Writes files, JSON unless they are text, below a folder of their own and returns it."""

    def write(files: Mapping[str, Any]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write
