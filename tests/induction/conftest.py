"""What the tests of induction share: sequences without chance repetitions, params of small runs."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.append(str(Path(__file__).parent))

from by_hand import POSITIONS, TOKENS

from remeasure.induction.sequences import Sequences


@pytest.fixture
def distinct() -> Sequences:
    """Sequences whose segments hold no token twice, as long as the models by hand can read."""
    generator = torch.Generator().manual_seed(0)
    segment = torch.stack([torch.randperm(TOKENS, generator=generator) for _ in range(40)])
    period = torch.randint(3, TOKENS + 1, (40,), generator=generator)
    return Sequences(segment.gather(1, torch.arange(POSITIONS + 1) % period[:, None]), period)


@pytest.fixture
def small_params(params: dict[str, Any]) -> dict[str, Any]:
    """A section `induction` of a few steps, beside what it is read with."""
    return {
        "base": {**params["base"], "d_model": 8, "context": 12, "ffn": "none"},
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "induction": {
            "sequences": {"vocab_size": 7, "held_out": 6, "held_out_seed": 0},
            "budget": {
                "steps": 4,
                "batch_size": 8,
                "learning_rate": 1e-3,
                "warmup_steps": 2,
                "evaluate_every": 2,
                "seeds": [3, 5],
            },
            "runs": {
                "one": {"periods": [2, 5]},
                "two": {"periods": [2, 5], "n_blocks": 2, "n_heads": 2},
            },
        },
    }
