"""What the tests of the little languages share: a small model and the params of small runs."""

from typing import Any

import pytest

from remeasure.params.model import ModelSpec


@pytest.fixture
def sentence_spec(small_spec: ModelSpec) -> ModelSpec:
    """The chapter's block made small, with room for a sentence."""
    return small_spec.model_copy(update={"context": 17})


@pytest.fixture
def small_params(params: dict[str, Any]) -> dict[str, Any]:
    """A section `referent` of a few steps, beside what it is read with."""
    schedule = {"steps": 4, "learning_rate": 1e-3}
    return {
        "base": {**params["base"], "d_model": 8, "context": 17},
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "referent": {
            "language": {"held_out": 0.2, "split_seed": 0},
            "budget": {
                "batch_size": 8,
                "warmup_steps": 2,
                "evaluate_every": 2,
                "seeds": [3, 5],
            },
            "runs": {
                "attention": {"task": "pool", **schedule, "n_blocks": 2},
                "uniform": {"task": "category", **schedule, "mixer": "uniform", "ffn": "none"},
                "short": {"task": "pool", **schedule, "context": 16},
            },
        },
    }
