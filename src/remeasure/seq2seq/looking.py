"""Where a trained architecture looks while it writes a target, beside where the answer stands.

Shapes: B strings, S source letters, T target letters (as many), H heads.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from remeasure.seq2seq.scoring import decode
from remeasure.seq2seq.tasks import LETTERS, TASKS, sequences, split
from remeasure.seq2seq.translator import Translator

DIGITS = 4


@dataclass(frozen=True)
class Look:
    """How well attention finds the letter to be written, and one string's attention in full."""

    sharpest: float
    """Of the head that looks most at the answer: mean share of a target place's attention that
    lies on its letter, wherever that stands in the source."""
    example: dict[str, Any]
    """Ready for JSON; weights to four digits."""


def equal_weights_on_answer(length: int) -> float:
    """What equal weights put on the letter to be written, expected over random strings."""
    return (1 + (length - 1) / len(LETTERS)) / length


def look(model: Translator, task: str, source_BS: Tensor) -> Look | None:
    """Measured over all strings; the first is the example. None if there is no attention.

    The example has each layer's mean over its heads, and the head that looks most at the answer.
    """
    ids_BN, _ = sequences(task, source_BS)
    with torch.no_grad():
        layers = model.weights(*split(ids_BN))
    if not layers:
        return None
    target_BT = TASKS[task](source_BS)
    is_answer_B1TS = (target_BT[:, :, None] == source_BS[:, None, :])[:, None]
    on_answer = [
        (weights_BHTS * is_answer_B1TS).sum(-1).double().mean((0, 2)).tolist()
        for weights_BHTS in layers
    ]
    layer, head = max(
        ((layer, head) for layer, heads in enumerate(on_answer) for head in range(len(heads))),
        key=lambda place: on_answer[place[0]][place[1]],
    )
    example = {
        "source": _word(source_BS[0]),
        "target": _word(target_BT[0]),
        "written": _word(decode(model, source_BS[:1])[0]),
        "layers": [_rounded(weights_BHTS[0].mean(0)) for weights_BHTS in layers],
        "sharpest": {
            "layer": layer + 1,
            "head": head + 1,
            "weights": _rounded(layers[layer][0, head]),
        },
    }
    return Look(on_answer[layer][head], example)


def _word(ids_S: Tensor) -> str:
    return "".join((LETTERS + "|")[index] for index in ids_S.tolist())


def _rounded(weights_TS: Tensor) -> list[list[float]]:
    return [[round(weight, DIGITS) for weight in row] for row in weights_TS.tolist()]
