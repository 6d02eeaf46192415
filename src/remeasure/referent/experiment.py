"""Train one described model on a little language with each of its seeds, and ask it who is meant.

Shapes: N training sentences, L words of a sentence, A sentences of the example pair.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from remeasure.data.batches import random_rows
from remeasure.errors import ParameterError
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import parameter_count
from remeasure.ops.averaging import averaging_matrix
from remeasure.params.referent import ReferentPlan
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread
from remeasure.referent.attention import (
    asked_rows,
    attention_map,
    attention_numbers,
    example_sentences,
)
from remeasure.referent.language import (
    EXAMPLE,
    LANGUAGES,
    LENGTH,
    REFERENT,
    VOCABULARY,
    encode,
    sentences,
)
from remeasure.referent.scoring import Questions, questions, score
from remeasure.referent.split import split_pairs
from remeasure.training.loop import train
from remeasure.training.numerics import set_up
from remeasure.training.seeds import global_seed

CURVE_COLUMNS = (
    "seed",
    "step",
    "batch_loss",
    "accuracy",
    "accuracy_among_present",
    "wrong_noun",
)
SETTLED_ABOVE = 0.99
"""A seed has settled at the first evaluation from which on its accuracy stays above this."""


@dataclass(frozen=True)
class Trained:
    """What a referent stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""


def train_and_ask(plan: ReferentPlan, label: str) -> Trained:
    """Train `plan.spec` with each seed of its budget on all sentences but those held out.

    Raises ParameterError if the context is shorter than a sentence, UserError if a loss is not
    finite or the device is not there.
    """
    if plan.spec.context < LENGTH - 1:
        raise ParameterError(
            f"context: {plan.spec.context} is too short for a sentence; give at least {LENGTH - 1}"
        )
    device = set_up(plan.training.device, plan.training.precision)
    split = split_pairs(LANGUAGES[plan.task], plan.language.held_out, plan.language.split_seed)
    training_NL = encode(sentences(split.training)).to(device)
    asked = questions(sentences(split.held_out)).to(device)
    seen_AT = questions(example_sentences()).to(device).visible_NT
    curves: dict[int, list[dict[str, Any]]] = {}
    numbers: dict[int, dict[str, float]] = {}
    maps: list[list[dict[str, Any]]] = []
    with Progress(label, plan.budget.steps * len(plan.budget.seeds)) as progress:
        for seed in plan.budget.seeds:
            with global_seed(seed, "initialisation"):
                model = build(plan.spec, len(VOCABULARY)).to(device)
            curves[seed] = _train_seed(plan, model, training_NL, asked, seed, label, progress)
            rows = asked_rows(model, seen_AT)
            numbers[seed] = attention_numbers(rows)
            maps = maps or [attention_map(model, seen_AT, rows)]
    record = {
        "protocol": protocol(plan.settings, None, plan.training.fraction),
        "parameters": parameter_count(model),
        "sentences": {"training": len(training_NL), "held_out": len(asked.right_N)},
        **_answers(curves),
        "attention": {
            "uniform_weight": float(averaging_matrix(REFERENT, dtype=torch.float64)[-1, 0]),
            **_over_seeds(numbers),
            "map": {
                "seed": plan.budget.seeds[0],
                "pair_held_out": EXAMPLE in split.held_out,
                "sentences": maps[0],
            },
        },
    }
    return Trained(record, _table(curves))


def settled_at(curve: Sequence[Mapping[str, Any]]) -> int | None:
    """The step of the first evaluation from which on the accuracy stays above 99 %, if it does."""
    step = None
    for row in reversed(curve):
        if "accuracy" in row:
            if row["accuracy"] <= SETTLED_ABOVE:
                break
            step = row["step"]
    return step


def _train_seed(
    plan: ReferentPlan,
    model: LanguageModel,
    training_NL: Tensor,
    asked: Questions,
    seed: int,
    label: str,
    progress: Progress,
) -> list[dict[str, Any]]:
    latest = ""

    def evaluate() -> Mapping[str, float]:
        nonlocal latest
        scores = score(model, asked)
        latest = f"seed {seed}, held-out accuracy {scores['accuracy']:.3f}"
        return scores

    return train(
        model,
        random_rows(training_NL, plan.budget.batch_size),
        plan.budget,
        seed,
        name=label,
        evaluate=evaluate,
        on_step=lambda step: progress.advance(latest),
    )


def _table(curves: Mapping[int, Sequence[Mapping[str, Any]]]) -> list[list[Any]]:
    return [
        [seed, *(row.get(name) for name in CURVE_COLUMNS[1:])]
        for seed, rows in curves.items()
        for row in rows
    ]


def _answers(curves: Mapping[int, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    last = {seed: rows[-1] for seed, rows in curves.items()}
    settled = {seed: settled_at(rows) for seed, rows in curves.items()}
    steps = {seed: step for seed, step in settled.items() if step is not None}
    return {
        "accuracy": spread({seed: row["accuracy"] for seed, row in last.items()}),
        "accuracy_among_present": spread(
            {seed: row["accuracy_among_present"] for seed, row in last.items()}
        ),
        "wrong_noun_share": spread({seed: row["wrong_noun"] for seed, row in last.items()}),
        "settled_seeds": len(steps),
        "settled_at": spread(steps) if steps else None,
    }


def _over_seeds(numbers: Mapping[int, Mapping[str, float]]) -> dict[str, Any]:
    """A spread for each address; an address with a dot goes one level down."""
    record: dict[str, Any] = {}
    for address in next(iter(numbers.values())):
        *folder, name = address.split(".")
        level = record.setdefault(folder[0], {}) if folder else record
        level[name] = spread({seed: found[address] for seed, found in numbers.items()})
    return record
