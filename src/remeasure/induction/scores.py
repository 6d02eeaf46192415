"""How a model predicts what repeats, and which of its heads look where an induction head looks.

The two scores of a head are those of Olsson et al. 2022 ("In-context Learning and Induction
Heads"), as shares of its attention weight.

Shapes: B sequences, T tokens read (as query, then as key), H heads, D width, V vocabulary.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from remeasure.induction.sequences import Sequences
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention, attention_weights
from remeasure.models.parts import SubLayer

SCORES = ("prefix_matching", "previous_token")


def is_earlier_occurrence(read_BT: Tensor) -> Tensor:
    """True at [b, t, s] where token s comes before token t and is the same: [B, T, T]."""
    same_BTT = read_BT[:, :, None] == read_BT[:, None, :]
    return same_BTT.tril(-1)


def follows_earlier(read_BT: Tensor) -> Tensor:
    """True at [b, t, s] where token s follows an earlier occurrence of token t: [B, T, T]."""
    return F.pad(is_earlier_occurrence(read_BT), (1, -1))


def prefix_matching(weights_BHTT: Tensor, sequences: Sequences) -> Tensor:
    """Mean weight, from repeated tokens, on all tokens that followed the same token before: [H]."""
    followers_BTT = follows_earlier(sequences.read_BT)
    weight_BHT = (weights_BHTT.double() * followers_BTT[:, None]).sum(-1)
    return weight_BHT.transpose(0, 1)[:, sequences.is_repeat_BT].mean(-1)


def previous_token(weights_BHTT: Tensor) -> Tensor:
    """Mean weight on the token just before, from all tokens that have one: [H]."""
    return weights_BHTT.double().diagonal(-1, -2, -1).mean((0, 2))


def layer_weights(model: LanguageModel, read_BT: Tensor) -> list[Tensor]:
    """The attention weights of every layer, first layer first, [B, H, T, T] each."""
    found: list[Tensor] = []
    x_BTD = model.embed(read_BT)
    for sublayer in model.modules():
        if isinstance(sublayer, SubLayer):
            if isinstance(sublayer.inner, SelfAttention):
                found.append(attention_weights(sublayer.inner, sublayer.norm_before(x_BTD)))
            x_BTD = sublayer(x_BTD)
    return found


@torch.no_grad()
def losses(model: LanguageModel, sequences: Sequences) -> dict[str, float]:
    """Mean cross-entropy in nats where tokens are new and where they repeat, and accuracy there.

    `repeat_accuracy`: share of repeats, from 0 to 1, of which the most likely token is the one that
    comes. The model is in evaluation mode meanwhile and returned to the mode it was in.
    """
    was_training = model.training
    model.eval()
    logits_BTV = model(sequences.read_BT)
    model.train(was_training)
    next_BT = sequences.next_BT
    loss_BT = F.cross_entropy(logits_BTV.double().transpose(1, 2), next_BT, reduction="none")
    right_BT = (logits_BTV.argmax(-1) == next_BT).double()
    return {
        "new_loss": float(loss_BT[sequences.next_is_new_BT].mean()),
        "repeat_loss": float(loss_BT[sequences.is_repeat_BT].mean()),
        "repeat_accuracy": float(right_BT[sequences.is_repeat_BT].mean()),
    }


@torch.no_grad()
def head_scores(model: LanguageModel, sequences: Sequences) -> dict[str, float]:
    """Both scores of every head, by `head_column`; without dropout."""
    was_training = model.training
    model.eval()
    layers = layer_weights(model, sequences.read_BT)
    model.train(was_training)
    found: dict[str, float] = {}
    for layer, weights_BHTT in enumerate(layers, start=1):
        scored = (prefix_matching(weights_BHTT, sequences), previous_token(weights_BHTT))
        for score, values_H in zip(SCORES, scored, strict=True):
            for head, value in enumerate(values_H.tolist(), start=1):
                found[head_column(score, layer, head)] = value
    return found


def head_column(score: str, layer: int, head: int) -> str:
    """The name of one head's score, layers and heads counted from 1."""
    return f"{score}_layer{layer}_head{head}"
