from typing import Any

import pytest


@pytest.fixture
def small_params(params: dict[str, Any]) -> dict[str, Any]:
    """A section `scaled_embedding` of a few steps, beside what it is read with."""
    budget = {**params["budgets"]["short"], "steps": 4, "batch_size": 4, "evaluate_every": 2}
    return {
        "base": {**params["base"], "d_model": 8, "context": 12},
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "budgets": {"short": {**budget, "seeds": [3, 5]}},
        "ablations": {"plain": {"budget": "short"}},
        "scaled_embedding": {
            "budget": "short",
            "runs": {"tied": {"tie_embeddings": True}, "untied": {"tie_embeddings": False}},
        },
    }
