"""What can be expected without training: losses of ideal predictors, scores of uniform attention.

Shapes: B sequences, T tokens read (as query, then as key).
"""

import math

import torch

from remeasure.induction.scores import (
    follows_earlier,
    is_earlier_occurrence,
    prefix_matching,
    previous_token,
)
from remeasure.induction.sequences import Sequences
from remeasure.ops.averaging import averaging_matrix


def baselines(sequences: Sequences, vocab_size: int) -> dict[str, float]:
    """Losses in nats and scores as shares, by name.

    `uniform_loss`: every token is as likely as any other; nothing does better where tokens are new.
    `tokens_seen_loss`: of a model that knows which tokens the sequence holds and not in what order.
    `one_token_match_loss`: of an ideal induction head, which matches the present token alone.
    `uniform_prefix_matching`, `uniform_previous_token`: scores of a head that weights all tokens up
    to its own alike. All but the first and the last are means over these sequences.
    """
    n_tokens = sequences.read_BT.shape[1]
    weights_TT = averaging_matrix(n_tokens, dtype=torch.float64, device=sequences.ids_BN.device)
    weights_BHTT = weights_TT.expand(len(sequences.ids_BN), 1, -1, -1)
    return {
        "uniform_loss": math.log(vocab_size),
        "tokens_seen_loss": tokens_seen_loss(sequences),
        "one_token_match_loss": one_token_match_loss(sequences),
        "uniform_prefix_matching": float(prefix_matching(weights_BHTT, sequences)),
        "uniform_previous_token": float(previous_token(weights_BHTT)),
    }


def tokens_seen_loss(sequences: Sequences) -> float:
    """Mean of ln(number of different tokens seen) where tokens repeat, in nats."""
    read_BT = sequences.read_BT
    is_known_BT = is_earlier_occurrence(read_BT).any(-1)
    different_BT = (~is_known_BT).cumsum(1)
    return float(different_BT[sequences.is_repeat_BT].double().log().mean())


def one_token_match_loss(sequences: Sequences) -> float:
    """Mean of -ln(share of the right token among all that followed the present one before), nats.

    Above zero only because a segment may hold the same token twice.
    """
    followers_BTT = follows_earlier(sequences.read_BT)
    right_BTT = sequences.read_BT[:, None, :] == sequences.next_BT[:, :, None]
    repeats_BT = sequences.is_repeat_BT
    right = (followers_BTT & right_BTT).sum(-1)[repeats_BT]
    share = right.double() / followers_BTT.sum(-1)[repeats_BT]
    return float(-share.log().mean())
