"""Variance of the dot product of a random query and a random key, against the width.

Section: why the scores are divided by sqrt(d_k).
"""

import math
from typing import Any

from remeasure.params.digest import settings_digest
from remeasure.params.probes import ScoreVarianceSettings
from remeasure.probes.random_scores import random_scores
from remeasure.records.protocol import protocol


def measure(settings: ScoreVarianceSettings) -> dict[str, Any]:
    """By width: sample variance and deviation of q.k over the pairs, and the deviation's theory."""
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "widths": {
            str(width): _at_width(width, settings.pairs, settings.seed) for width in settings.widths
        },
    }


def _at_width(width: int, pairs: int, seed: int) -> dict[str, float]:
    variance = float(random_scores(width, pairs, 1, seed)["undivided"].double().var())
    return {"variance": variance, "std": math.sqrt(variance), "sqrt_d": math.sqrt(width)}
