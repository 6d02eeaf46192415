"""Where a model looks when it has to name the referent, for one pair and all eight adjectives.

Shapes: A sentences (one for each adjective), H heads, T visible words, D width, X some of the T.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention
from remeasure.models.parts import SubLayer
from remeasure.referent.language import (
    ADJECTIVE,
    CROSSED_ADJECTIVES,
    CROSSER_ADJECTIVES,
    EXAMPLE,
    FIRST_NOUN,
    REFERENT,
    SECOND_NOUN,
    VOCABULARY,
    Sentence,
    sentences,
)

DIGITS = 6


@dataclass(frozen=True)
class Row:
    """What one attention layer does at the asked position of each sentence."""

    scores_AHT: Tensor
    weights_AHT: Tensor


def asked_rows(model: LanguageModel, visible_AT: Tensor) -> list[Row]:
    """The last row of every attention layer, first block first; empty if the model has none."""
    rows: list[Row] = []
    was_training = model.training
    model.eval()
    with torch.no_grad():
        x_ATD = model.embed(visible_AT)
        for sublayer in model.modules():
            if isinstance(sublayer, SubLayer):
                if isinstance(sublayer.inner, SelfAttention):
                    scores_AHT = sublayer.inner.scores(sublayer.norm_before(x_ATD))[:, :, -1]
                    rows.append(Row(scores_AHT, scores_AHT.softmax(-1)))
                x_ATD = sublayer(x_ATD)
    model.train(was_training)
    return rows


def example_sentences() -> list[Sentence]:
    """The example pair with each of the eight adjectives."""
    return sentences([EXAMPLE])


def attention_numbers(rows: Sequence[Row]) -> dict[str, float]:
    """What is compared over seeds, by address, for each block (counted from 1) of one model.

    Weights are means over the heads, and over all eight adjectives or the four named.
    `same.max_score_diff` is the largest difference of one head's score between two of the eight
    sentences, the adjective's own score left out; `same.max_weight_diff` the largest difference of
    one head's weight on a word before the adjective. In the first block the query and those keys
    are the same in all eight, and so are their scores. The weights need not be: they share their
    sum of one with the adjective's, whose score does change.
    """
    found: dict[str, float] = {}
    texts = example_sentences()
    crosser = [index for index, s in enumerate(texts) if s.adjective in CROSSER_ADJECTIVES]
    crossed = [index for index, s in enumerate(texts) if s.adjective in CROSSED_ADJECTIVES]
    elsewhere = [place for place in range(REFERENT) if place != ADJECTIVE]
    for number, row in enumerate(rows, start=1):
        mean_AT = row.weights_AHT.double().mean(1)
        found |= {
            f"block{number}_weight_on_first_noun": float(mean_AT[:, FIRST_NOUN].mean()),
            f"block{number}_crosser_weight_on_adjective": float(mean_AT[crosser, ADJECTIVE].mean()),
            f"block{number}_crossed_weight_on_second_noun": float(
                mean_AT[crossed, SECOND_NOUN].mean()
            ),
            f"block{number}_same.max_score_diff": _range(row.scores_AHT[..., elsewhere]),
            f"block{number}_same.max_weight_diff": _range(row.weights_AHT[..., :ADJECTIVE]),
        }
    return found


def attention_map(
    model: LanguageModel, visible_AT: Tensor, rows: Sequence[Row]
) -> list[dict[str, Any]]:
    """Each of the eight sentences with its rows in full, ready for JSON; weights to six digits."""
    with torch.no_grad():
        answers_A = model(visible_AT)[:, -1].argmax(-1).tolist()
    return [
        {
            "words": text.words[:REFERENT],
            "adjective": text.adjective,
            "referent": text.referent,
            "answer": VOCABULARY[answers_A[index]],
            "blocks": [
                {
                    "mean": _rounded(row.weights_AHT[index].mean(0)),
                    "heads": [_rounded(head_T) for head_T in row.weights_AHT[index]],
                }
                for row in rows
            ],
        }
        for index, text in enumerate(example_sentences())
    ]


def _range(values_AHX: Tensor) -> float:
    return float((values_AHX.amax(0) - values_AHX.amin(0)).max())


def _rounded(weights_T: Tensor) -> list[float]:
    return [round(weight, DIGITS) for weight in weights_T.tolist()]
