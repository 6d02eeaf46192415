"""How much derivative the softmax has on random vectors, with and without the division.

Section: why the scores are divided by sqrt(d_k). Shapes: R rows, S keys.
"""

from typing import Any

import torch
from torch import Tensor

from remeasure.params.digest import settings_digest
from remeasure.params.probes import SoftmaxJacobianSettings
from remeasure.probes.attention_statistics import FROZEN_ABOVE
from remeasure.probes.random_scores import random_scores
from remeasure.records.protocol import protocol


def measure(settings: SoftmaxJacobianSettings) -> dict[str, Any]:
    """By width, "divided" and "undivided", over rows of random scores.

    `trace`: mean trace of the Jacobian, the sum of w(1-w) over a row. `frozen_rows`: share of rows
    with more than 0.99 on one token. `effective_tokens`: mean and median of exp(entropy).
    """
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "widths": {
            str(width): {
                name: _of_rows(scores_RS)
                for name, scores_RS in random_scores(
                    width, settings.rows, settings.tokens, settings.seed
                ).items()
            }
            for width in settings.widths
        },
    }


def _of_rows(scores_RS: Tensor) -> dict[str, Any]:
    weights_RS = scores_RS.softmax(-1).double()
    effective_R = torch.special.entr(weights_RS).sum(-1).exp()
    return {
        "trace": float((weights_RS * (1 - weights_RS)).sum(-1).mean()),
        "frozen_rows": float((weights_RS.amax(-1) > FROZEN_ABOVE).double().mean()),
        "effective_tokens": {
            "mean": float(effective_R.mean()),
            "median": float(effective_R.median()),
        },
    }
