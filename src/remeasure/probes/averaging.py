"""The causal average as a loop, a matrix product and a softmax, and its blindness to order.

Section: the average. Shapes: T tokens, D width.
"""

from typing import Any

import torch

from remeasure.ops.averaging import (
    average_by_loop,
    average_by_matmul,
    average_by_softmax,
    averaging_matrix,
)
from remeasure.params.digest import settings_digest
from remeasure.params.probes import AveragingSettings
from remeasure.records.protocol import protocol
from remeasure.training.seeds import generator


def measure(settings: AveragingSettings) -> dict[str, Any]:
    """Largest differences in float32 between the three forms, and between a window and its shuffle.

    `shuffle` compares the last row's average, the one that sees the whole window. `matrix` holds
    the first rows of the averaging matrix, in float64.
    """
    random = generator(settings.seed, "averaging")
    x_TD = torch.randn(settings.tokens, settings.d_model, generator=random)
    shuffled_TD = x_TD[torch.randperm(settings.tokens, generator=random)]
    loop_TD = average_by_loop(x_TD)
    last_row_T = averaging_matrix(settings.tokens)[-1]
    return {
        "protocol": protocol(settings_digest(settings), None, 1.0),
        "loop_vs_matmul": {"max_diff": _largest(loop_TD - average_by_matmul(x_TD))},
        "loop_vs_softmax": {"max_diff": _largest(loop_TD - average_by_softmax(x_TD))},
        "shuffle": {"max_diff": _largest(last_row_T @ x_TD - last_row_T @ shuffled_TD)},
        "matrix": averaging_matrix(settings.rows, dtype=torch.float64).tolist(),
    }


def _largest(difference: torch.Tensor) -> float:
    return float(difference.abs().max())
