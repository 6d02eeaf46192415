"""Probes made small: settings of every one, on a block of width 16 and a text of 17 tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remeasure import paths
from remeasure.data.tokens import Tokens, save_tokens
from remeasure.params.probes import probe_settings

SMALL_PROBES: dict[str, dict[str, Any]] = {
    "averaging": {"seed": 1, "tokens": 9, "d_model": 5, "rows": 4},
    "symmetry": {
        "seed": 1,
        "unordered": {"causal": False, "pos": "none"},
        "ordered": {"mask": {"pos": "none"}, "rope": {"causal": False, "pos": "rope"}},
        "rope": {"causal": False, "pos": "rope"},
        "offsets": [1, 50],
    },
    "position_definitions": {
        "seed": 1,
        "tokens": 20,
        "d_model": 6,
        "head_width": 8,
        "heads": [1, 2, 6, 8],
    },
    "score_variance": {"seed": 1, "widths": [4, 64], "pairs": 4000},
    "softmax_row": {"seed": 1, "widths": [4, 256], "tokens": 16},
    "softmax_jacobian": {"seed": 1, "widths": [4, 256], "tokens": 16, "rows": 200},
    "equivalence": {"seed": 1, "batch_size": 2, "tokens": 7, "d_model": 12, "n_heads": 3},
    "parameters": {
        "gpt2": {"n_blocks": 3, "qkv_bias": True, "tie_embeddings": True, "output_bias": False},
        "gpt2_vocab_size": 11,
        "head": {"n_heads": 1, "output_projection": False, "ffn": "none", "norm": "none"},
        "heads": {"ffn": "none", "norm": "none"},
        "feed_forward": {"norm": "none"},
        "one_block": {},
        "widths": [8, 16],
    },
    "gradient_norms": {
        "seeds": [3, 4],
        "batch_size": 2,
        "pre": {"n_blocks": 3},
        "post": {"n_blocks": 3, "norm": "post"},
    },
    "residual_stream": {"seed": 1, "windows": 2, "model": {"n_blocks": 2}},
}


@pytest.fixture(scope="session")
def small_probe_params(params: dict[str, Any]) -> dict[str, Any]:
    """What params.yaml would say for small probes."""
    return {"base": {**params["base"], "d_model": 16, "context": 12}, "probes": SMALL_PROBES}


@pytest.fixture(scope="session")
def small_settings(small_probe_params: dict[str, Any]) -> Callable[..., Any]:
    """The checked settings of a small probe, some of them replaced."""

    def settings(name: str, **changes: Any) -> Any:
        probes = {name: {**SMALL_PROBES[name], **changes}}
        return probe_settings({**small_probe_params, "probes": probes}, name)

    return settings


@pytest.fixture
def tokens_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_tokens: Tokens) -> Path:
    """A small data/tokens.npz that the probes find."""
    file = tmp_path / "tokens.npz"
    save_tokens(file, small_tokens)
    monkeypatch.setattr(paths, "TOKENS", file)
    return file
