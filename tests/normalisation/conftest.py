"""What the tests of the norms share: a small model with any of them, and params of small runs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.normalisation.norms import BatchNorm, exchange
from remeasure.params.model import ModelSpec

VOCABULARY = 17


@pytest.fixture
def model_of(small_spec: ModelSpec) -> Callable[..., LanguageModel]:
    """Builds a model with norms of a kind in float64, with gains and statistics of its own."""

    def build_it(kind: str, **changes: Any) -> LanguageModel:
        torch.manual_seed(0)
        model = build(small_spec.model_copy(update=changes), VOCABULARY)
        exchange(model, kind)
        model.double().train()
        for name, parameter in model.named_parameters():
            if "norm" in name:
                torch.nn.init.uniform_(parameter, 0.5, 1.5)
        if any(isinstance(module, BatchNorm) for module in model.modules()):
            with torch.no_grad():
                model(torch.randint(0, VOCABULARY, (8, 12)))
        return model.eval()

    return build_it


@pytest.fixture
def small_params(params: dict[str, Any]) -> dict[str, Any]:
    """A section `normalisation` of a few steps, beside what it is read with."""
    budget = {**params["budgets"]["short"], "steps": 4, "batch_size": 4, "evaluate_every": 2}
    kinds = ("layer", "batch", "rms")
    return {
        "base": {**params["base"], "d_model": 8, "context": 12},
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "budgets": {"short": {**budget, "seeds": [3, 5]}},
        "ablations": {"plain": {"budget": "short"}},
        "normalisation": {
            "asked": {"windows": 6, "batch_size": 4},
            "runs": {kind: {"budget": "short", "kind": kind} for kind in kinds},
        },
    }
