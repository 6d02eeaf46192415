"""What the tests of recurrent state share: the params of small runs."""

from typing import Any

import pytest


@pytest.fixture
def small_params(params: dict[str, Any]) -> dict[str, Any]:
    """A section `recurrent` of a few steps, beside what it is read with."""
    budget = {
        **params["budgets"]["standard"],
        "steps": 6,
        "batch_size": 4,
        "evaluate_every": 3,
        "seeds": [3, 5],
    }
    return {
        "base": {**params["base"], "d_model": 8, "context": 12},
        "budgets": {"tiny": budget},
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "recurrent": {
            "budget": "tiny",
            "gradient": {"windows": 5, "far": 8},
            "runs": {
                "rnn": {"cell": "rnn", "d_hidden": 10},
                "lstm": {"cell": "lstm", "d_hidden": 6},
                "attention": {"mixer": "attention"},
            },
            "sequence_cost": {
                "lengths": [2, 4, 8],
                "tokens_per_batch": 16,
                "vocab_size": 17,
                "repeats": 3,
                "seconds": 0,
                "device": "cpu",
                "seed": 0,
            },
        },
    }
