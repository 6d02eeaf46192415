"""How well hidden tokens are filled in, and how well by who knows only how often tokens occur.

Shapes: N tokens of a split, B windows, T tokens of a window, V vocabulary, H hidden tokens.
"""

import torch
from torch import Tensor

from remeasure.masked.hiding import hidden, hide
from remeasure.masked.model import MaskedModel
from remeasure.training.evaluation import TOKENS_PER_BATCH, perplexity
from remeasure.training.seeds import generator


@torch.no_grad()
def filled_in(model: MaskedModel, whole_BT: Tensor, share: float, seed: int) -> dict[str, float]:
    """Accuracy, loss in nats and perplexity on hidden tokens, a `share` of each window.

    The places come from `seed` alone: the same for every model. `model` is in evaluation mode
    meanwhile and returned to the mode it was in.
    """
    was_training = model.training
    model.train(False)
    windows, length = whole_BT.shape
    places_BT = hidden(torch.full((windows,), share), length, generator(seed, "hidden places"))
    asked_BT = hide(whole_BT, places_BT, model.mask_id)
    right, nats = 0, 0.0
    at_once = max(1, TOKENS_PER_BATCH // length)
    for some_BT, answers_BT in zip(asked_BT.split(at_once), whole_BT.split(at_once), strict=True):
        hidden_BT = some_BT == model.mask_id
        log_p_HV = model.logits(model.features(some_BT)[hidden_BT]).log_softmax(-1)
        answer_H1 = answers_BT[hidden_BT][:, None]
        right += int((log_p_HV.argmax(1, keepdim=True) == answer_H1).sum())
        nats -= float(log_p_HV.gather(1, answer_H1).sum(dtype=torch.float64))
    model.train(was_training)
    count = int(places_BT.sum())
    return {
        "accuracy": right / count,
        "loss": nats / count,
        "perplexity": perplexity(nats / count),
    }


def baseline(train_N: Tensor, asked_N: Tensor, vocab_size: int) -> dict[str, float]:
    """What can be said about `asked_N` without seeing anything of it.

    `accuracy` of always naming the most frequent training token; `perplexity` of the training
    frequencies, with one added to every count since some tokens never occur there;
    `perplexity_bound`, of the asked tokens' own frequencies: no fixed distribution has a lower one.
    """
    count_V = train_N.bincount(minlength=vocab_size).double()
    log_p_V = ((count_V + 1) / (count_V + 1).sum()).log()
    own_V = asked_N.bincount(minlength=vocab_size).double() / len(asked_N)
    return {
        "accuracy": float((asked_N == count_V.argmax()).double().mean()),
        "perplexity": perplexity(-float(log_p_V[asked_N].mean())),
        "perplexity_bound": perplexity(-float(torch.special.xlogy(own_V, own_V).sum())),
    }
