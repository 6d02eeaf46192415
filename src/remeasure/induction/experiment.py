"""Train one described model on sequences that repeat, and watch its heads while it learns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remeasure.data.batches import Draw
from remeasure.induction.baselines import baselines
from remeasure.induction.scores import SCORES, head_column, head_scores, losses
from remeasure.induction.sequences import Sequences, draw_sequences, random_sequences
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import parameter_count
from remeasure.params.induction import InductionPlan
from remeasure.params.model import ModelSpec
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread
from remeasure.training.loop import train
from remeasure.training.numerics import set_up
from remeasure.training.seeds import generator, global_seed

LEARNED_BELOW = 0.5
"""A seed has learned to predict repeats at the first evaluation at which its loss on them is below
this share of that of a model which knows the tokens seen but not their order. Half is far from both
ends: such knowledge does not lead there, and whoever finds the right token is soon well below."""

Curve = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Trained:
    """What an induction stage hands over to be written."""

    record: dict[str, Any]
    columns: tuple[str, ...]
    curve: list[list[Any]]
    """Rows in the order of `columns`."""


def train_and_watch(plan: InductionPlan, label: str) -> Trained:
    """Train `plan.spec` with each seed of its budget on sequences that are never seen twice.

    Raises UserError if a loss is not finite or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    n_tokens, vocab_size = plan.spec.context + 1, plan.sequences.vocab_size
    held_out = draw_sequences(
        plan.sequences.held_out,
        n_tokens,
        vocab_size,
        plan.periods,
        generator(plan.sequences.held_out_seed, "induction held-out"),
    ).to(device)
    draw = random_sequences(plan.budget.batch_size, n_tokens, vocab_size, plan.periods, device)
    curves: dict[int, Curve] = {}
    with Progress(label, plan.budget.steps * len(plan.budget.seeds)) as progress:
        for seed in plan.budget.seeds:
            with global_seed(seed, "initialisation"):
                model = build(plan.spec, vocab_size).to(device)
            curves[seed] = _train_seed(plan, model, draw, held_out, seed, label, progress)
    expected = baselines(held_out, vocab_size)
    below = LEARNED_BELOW * expected["tokens_seen_loss"]
    record = {
        "protocol": protocol(plan.settings, None, plan.training.fraction),
        "parameters": parameter_count(model),
        **_at_the_end(curves),
        **_learning(curves, below),
        "heads": _best_heads(curves, plan.spec),
        "baselines": expected,
    }
    columns = tuple(next(iter(curves.values()))[0])
    return Trained(record, ("seed", *columns), _table(curves, columns))


def learned_at(curve: Curve, below: float) -> int | None:
    """The step of the first evaluation with a loss on repeats below `below` nats, if there is one.

    It is known to the interval between two evaluations.
    """
    return next((row["step"] for row in curve if row.get("repeat_loss", below) < below), None)


def _train_seed(
    plan: InductionPlan,
    model: LanguageModel,
    draw: Draw,
    held_out: Sequences,
    seed: int,
    label: str,
    progress: Progress,
) -> Curve:
    latest = ""

    def evaluate() -> Mapping[str, float]:
        nonlocal latest
        found = losses(model, held_out)
        latest = f"seed {seed}, loss on repeats {found['repeat_loss']:.3f}"
        return found | head_scores(model, held_out)

    return train(
        model,
        draw,
        plan.budget,
        seed,
        name=label,
        evaluate=evaluate,
        on_step=lambda step: progress.advance(latest),
    )


def _at_the_end(curves: Mapping[int, Curve]) -> dict[str, Any]:
    return {
        name: spread({seed: rows[-1][name] for seed, rows in curves.items()})
        for name in ("new_loss", "repeat_loss", "repeat_accuracy")
    }


def _learning(curves: Mapping[int, Curve], below: float) -> dict[str, Any]:
    learned = {seed: learned_at(rows, below) for seed, rows in curves.items()}
    steps = {seed: step for seed, step in learned.items() if step is not None}
    return {
        "learned_below": below,
        "learned_seeds": len(steps),
        "learned_at": spread(steps) if steps else None,
    }


def _best_heads(curves: Mapping[int, Curve], spec: ModelSpec) -> dict[str, Any]:
    """The highest score of any head of a layer after the last step."""
    return {
        f"layer{layer}": {
            score: spread(
                {
                    seed: max(
                        rows[-1][head_column(score, layer, head)]
                        for head in range(1, spec.n_heads + 1)
                    )
                    for seed, rows in curves.items()
                }
            )
            for score in SCORES
        }
        for layer in range(1, spec.n_blocks + 1)
    }


def _table(curves: Mapping[int, Curve], columns: Sequence[str]) -> list[list[Any]]:
    return [
        [seed, *(row.get(name) for name in columns)]
        for seed, rows in curves.items()
        for row in rows
    ]
