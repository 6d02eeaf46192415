"""Train one architecture on one task with each seed, and ask it for strings of all lengths.

Shapes: B strings, S source letters.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from torch import Tensor

from remeasure.models.parts import parameter_count
from remeasure.params.seq2seq import Seq2SeqPlan, StringSettings
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread
from remeasure.seq2seq.architectures import build_translator
from remeasure.seq2seq.guessing import guessed_accuracy
from remeasure.seq2seq.looking import Look, equal_weights_on_answer, look
from remeasure.seq2seq.scoring import score
from remeasure.seq2seq.tasks import LETTERS, random_batches, random_sources
from remeasure.seq2seq.translator import Translator
from remeasure.training.loop import train
from remeasure.training.numerics import set_up
from remeasure.training.seeds import generator, global_seed

CURVE_COLUMNS = ("seed", "step", "batch_loss", "token_accuracy", "sequence_accuracy")
"""Accuracies are means over the trained lengths that are asked after."""
HALF = 0.5

ByLength = Mapping[int, Mapping[str, float]]


@dataclass(frozen=True)
class Trained:
    """What a seq2seq stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""


def train_and_ask(plan: Seq2SeqPlan, label: str) -> Trained:
    """Train `plan.architecture` on `plan.task` with each seed of its budget.

    Raises UserError if a loss is not finite or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    asked = {
        length: source_BS.to(device) for length, source_BS in asked_sources(plan.strings).items()
    }
    curve: list[list[Any]] = []
    scores: dict[int, ByLength] = {}
    looks: dict[int, Look | None] = {}
    with Progress(label, plan.budget.steps * len(plan.budget.seeds)) as progress:
        for seed in plan.budget.seeds:
            with global_seed(seed, "initialisation"):
                model = build_translator(plan.architecture, plan.sizes).to(device)
            curve += _train_seed(plan, model, asked, seed, label, progress)
            model.eval()
            scores[seed] = {
                length: score(model, plan.task, asked[length]) for length in plan.strings.evaluated
            }
            looks[seed] = look(model, plan.task, asked[plan.strings.example])
    record = {
        "protocol": protocol(plan.settings, None, plan.training.fraction),
        "parameters": parameter_count(model),
        "trained_lengths": [min(plan.strings.trained), max(plan.strings.trained)],
        "by_length": _by_length(scores),
        "half_right_length": spread(
            {seed: half_right_length(found) for seed, found in scores.items()}
        ),
        "guessing": {
            "loss": math.log(len(LETTERS)),
            "token": {
                str(length): guessed_accuracy(plan.task, length, len(LETTERS))
                for length in plan.strings.evaluated
            },
        },
        "attention": _attention(looks, plan.strings.example),
    }
    return Trained(record, curve)


def asked_sources(strings: StringSettings) -> dict[int, Tensor]:
    """The strings that are asked after, by length, from a generator that training never sees."""
    own = generator(strings.seed, "asked strings")
    lengths = sorted({*strings.evaluated, strings.example})
    return {length: random_sources(length, strings.count, own) for length in lengths}


def half_right_length(scores: ByLength) -> int:
    """The longest length asked after at which at least half the strings are right; 0 if none."""
    return max((length for length, found in scores.items() if found["sequence"] >= HALF), default=0)


def _train_seed(
    plan: Seq2SeqPlan,
    model: Translator,
    asked: Mapping[int, Tensor],
    seed: int,
    label: str,
    progress: Progress,
) -> list[list[Any]]:
    """The rows of one seed's curve."""
    latest = ""
    device = next(model.parameters()).device

    def evaluate() -> Mapping[str, float]:
        nonlocal latest
        model.eval()
        found = [score(model, plan.task, asked[length]) for length in plan.strings.trained]
        model.train()
        means = {f"{what}_accuracy": fmean(one[what] for one in found) for what in found[0]}
        latest = f"seed {seed}, whole strings right {means['sequence_accuracy']:.3f}"
        return means

    rows = train(
        model,
        random_batches(plan.task, plan.strings.trained, plan.budget.batch_size, device),
        plan.budget,
        seed,
        name=label,
        evaluate=evaluate,
        on_step=lambda step: progress.advance(latest),
    )
    return [[seed, *(row.get(name) for name in CURVE_COLUMNS[1:])] for row in rows]


def _by_length(scores: Mapping[int, ByLength]) -> dict[str, Any]:
    """By length and kind of accuracy, a spread over the seeds."""
    first = next(iter(scores.values()))
    return {
        str(length): {
            what: spread({seed: found[length][what] for seed, found in scores.items()})
            for what in kinds
        }
        for length, kinds in first.items()
    }


def _attention(looks: Mapping[int, Look | None], length: int) -> dict[str, Any] | None:
    """None for an architecture without attention. The example is the first seed's."""
    there = {seed: found for seed, found in looks.items() if found is not None}
    if not there:
        return None
    seed, first = next(iter(there.items()))
    return {
        "length": length,
        "equal_weights_on_answer": equal_weights_on_answer(length),
        "sharpest_head_on_answer": spread({seed: found.sharpest for seed, found in there.items()}),
        "example": {"seed": seed, **first.example},
    }
