"""What the tests of filling in share: a small model and the params of small runs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from remeasure.masked.model import MaskedModel
from remeasure.models.build import build
from remeasure.params.model import ModelSpec

VOCABULARY = 17


@pytest.fixture
def model_of(small_spec: ModelSpec) -> Callable[..., MaskedModel]:
    """Builds a model without mask in float64, with these keys changed."""

    def build_it(**changes: Any) -> MaskedModel:
        torch.manual_seed(0)
        spec = small_spec.model_copy(update={"causal": False, **changes})
        return MaskedModel(build(spec, VOCABULARY + 1), VOCABULARY).double().eval()

    return build_it


@pytest.fixture
def small_params(params: dict[str, Any]) -> dict[str, Any]:
    """A section `masked` of a few steps, beside what it is read with."""
    budget = {**params["budgets"]["short"], "steps": 4, "batch_size": 4, "evaluate_every": 2}
    return {
        "base": {**params["base"], "d_model": 8, "context": 12},
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "budgets": {"short": {**budget, "seeds": [3, 5]}},
        "masked": {
            "asked": {"percents": [15, 100], "curve_percent": 15, "windows": 4, "seed": 0},
            "runs": {
                "fixed": {"budget": "short", "share": [0.15, 0.15], "causal": False},
                "any": {"budget": "short", "share": [0.0, 1.0], "causal": False},
            },
        },
    }
