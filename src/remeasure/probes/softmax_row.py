"""One row of attention on random vectors, with and without the division.

Section: why the scores are divided by sqrt(d_k). Shapes: S keys.
"""

from typing import Any

import torch
from torch import Tensor

from remeasure.params.digest import settings_digest
from remeasure.params.probes import SoftmaxRowSettings
from remeasure.probes.random_scores import random_scores
from remeasure.records.protocol import protocol


def measure(settings: SoftmaxRowSettings) -> dict[str, Any]:
    """By width, "divided" and "undivided": the row's largest weight, and exp of its entropy."""
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "widths": {
            str(width): {
                name: _of_row(scores_1S[0])
                for name, scores_1S in random_scores(
                    width, 1, settings.tokens, settings.seed
                ).items()
            }
            for width in settings.widths
        },
    }


def _of_row(scores_S: Tensor) -> dict[str, float]:
    weights_S = scores_S.softmax(-1)
    entropy = torch.special.entr(weights_S).sum()
    return {
        "largest_weight": float(weights_S.max()),
        "effective_tokens": float(entropy.double().exp()),
    }
