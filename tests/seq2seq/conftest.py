"""What the tests of sequence to sequence share: small sizes, and the params of small runs."""

import sys
from pathlib import Path
from typing import Any

import pytest

from remeasure.seq2seq.architectures import ARCHITECTURES
from remeasure.seq2seq.translator import Translator

sys.path.append(str(Path(__file__).parent))

from small_translators import SMALL, small


@pytest.fixture(params=sorted(ARCHITECTURES))
def translator(request: pytest.FixtureRequest) -> Translator:
    """Each of the four, untrained."""
    return small(request.param)


@pytest.fixture
def small_params() -> dict[str, Any]:
    """A section `seq2seq` of a few steps, beside what it is read with."""
    return {
        "training": {"fraction": 1.0, "precision": "float32", "device": "cpu"},
        "seq2seq": {
            "strings": {"trained": [2, 4], "longer": [6], "example": 3, "count": 7, "seed": 0},
            "budget": {
                "steps": 4,
                "batch_size": 8,
                "warmup_steps": 2,
                "evaluate_every": 2,
                "seeds": [3, 5],
            },
            "architectures": {
                name: {**sizes, "learning_rate": 1e-3} for name, sizes in SMALL.items()
            },
            "runs": {
                f"sort_{name}": {"task": "sort", "architecture": name} for name in ARCHITECTURES
            },
        },
    }
