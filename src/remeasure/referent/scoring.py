"""What a model answers where the referent must be named.

Shapes: N sentences, T visible words, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from remeasure.referent.language import REFERENT, TOKEN_OF, Sentence, encode


@dataclass(frozen=True)
class Questions:
    """Sentences up to the referent, with the noun that is meant and the other one of the pair."""

    visible_NT: Tensor
    right_N: Tensor
    wrong_N: Tensor

    def to(self, device: torch.device) -> "Questions":
        """The same on another device."""
        return Questions(
            self.visible_NT.to(device), self.right_N.to(device), self.wrong_N.to(device)
        )


def questions(texts: Sequence[Sentence]) -> Questions:
    """Nothing after the adjective tells the referent: it is cut off with all that follows."""
    return Questions(
        encode(texts)[:, :REFERENT],
        torch.tensor([TOKEN_OF[text.referent] for text in texts]),
        torch.tensor([TOKEN_OF[text.other] for text in texts]),
    )


@torch.no_grad()
def score(model: nn.Module, asked: Questions) -> dict[str, float]:
    """Shares of the sentences, from 0 to 1, by name.

    `accuracy`: the most likely word of the whole vocabulary is the referent.
    `accuracy_among_present`: the referent is more likely than the other noun of the pair.
    `wrong_noun`: the most likely word of the whole vocabulary is that other noun. The model is in
    evaluation mode meanwhile and returned to the mode it was in.
    """
    was_training = model.training
    model.eval()
    logits_NV = model(asked.visible_NT)[:, -1]
    model.train(was_training)
    answer_N = logits_NV.argmax(1)
    right_N1, wrong_N1 = asked.right_N[:, None], asked.wrong_N[:, None]
    preferred_N1 = logits_NV.gather(1, right_N1) > logits_NV.gather(1, wrong_N1)
    return {
        "accuracy": _share(answer_N == asked.right_N),
        "accuracy_among_present": _share(preferred_N1),
        "wrong_noun": _share(answer_N == asked.wrong_N),
    }


def _share(true: Tensor) -> float:
    return float(true.double().mean())
