"""How much of a target is right, and of how many strings all of it.

Shapes: B strings, S source letters, T target letters.
"""

import torch
from torch import Tensor

from remeasure.seq2seq.tasks import SEPARATOR, sequences, split
from remeasure.seq2seq.translator import Translator


def score(model: Translator, task: str, source_BS: Tensor) -> dict[str, float]:
    """Shares from 0 to 1: `token` of all target letters, `sequence` of strings right throughout.

    Each letter is predicted from the right ones before it. A string is right throughout exactly
    when greedy decoding gives its target, since up to its first mistake both read the same letters:
    `sequence` is the accuracy of decoding, from one pass.
    """
    ids_BN, next_BN = sequences(task, source_BS)
    _, target_BT = split(next_BN)
    with torch.no_grad():
        right_BT = model(*split(ids_BN)).argmax(-1) == target_BT
    return {
        "token": float(right_BT.double().mean()),
        "sequence": float(right_BT.all(1).double().mean()),
    }


def decode(model: Translator, source_BS: Tensor) -> Tensor:
    """The most likely letter at each step, read again at the next: [B, T], T = S."""
    read_BT = torch.full_like(source_BS[:, :1], SEPARATOR)
    with torch.no_grad():
        for _ in range(source_BS.shape[1]):
            next_B1 = model(source_BS, read_BT)[:, -1:].argmax(-1)
            read_BT = torch.cat([read_BT, next_B1], dim=1)
    return read_BT[:, 1:]
