"""Train one run with each of its seeds; measure its perplexity and its gradient's way back.

Shapes: B windows, T tokens of a window.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from remeasure.data.batches import random_windows, side_by_side
from remeasure.data.tokens import Tokens
from remeasure.experiments.each_seed import check_text
from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import parameter_count
from remeasure.params.digest import settings_digest
from remeasure.params.recurrent import RecurrentPlan
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread
from remeasure.recurrent.gradient import Reach, reach
from remeasure.recurrent.models import build_model
from remeasure.training.checkpoint import Checkpoint
from remeasure.training.evaluation import bits_per_byte, mean_loss, perplexity
from remeasure.training.loop import train
from remeasure.training.numerics import set_up
from remeasure.training.seeds import global_seed

CURVE_COLUMNS = ("seed", "step", "batch_loss", "held_out_loss")
GRADIENT_COLUMNS = ("seed", "when", "distance", "low", "median", "high")
AT_START, AT_END = "at_start", "at_end"


@dataclass(frozen=True)
class Trained:
    """What a stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""
    gradient: list[list[Any]]
    """Rows in the order of GRADIENT_COLUMNS."""
    seconds_before: float = field(compare=False)
    """Spent by earlier processes on the checkpoints that were used."""


@dataclass(frozen=True)
class Seed:
    """What was measured with one seed."""

    parameters: int
    curve: list[dict[str, Any]]
    losses: Mapping[str, float]
    """Mean loss in nats on the `held_out` split and on as much of the `training` split."""
    reaches: Mapping[str, Reach]
    """By the time: AT_START is before the first step."""


def train_and_trace(
    plan: RecurrentPlan, tokens: Tokens, label: str, checkpoints: Path | None
) -> Trained:
    """Train `plan.spec` with each seed of its budget; trace gradients before and after.

    `checkpoints` is a folder for unfinished trainings, None to keep none. Raises UserError if the
    text is too short for the windows, a loss is not finite, or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    check_text(tokens, plan.spec.context)
    seeds = plan.budget.seeds
    key = _key(plan, tokens, device)
    kept = {
        seed: checkpoints and Checkpoint(checkpoints / f"{key}-{seed}.safetensors", f"{key}-{seed}")
        for seed in seeds
    }
    with Progress(label, plan.budget.steps * len(seeds)) as progress:
        measured = {
            seed: _measure_seed(plan, tokens, seed, device, label, progress, kept[seed] or None)
            for seed in seeds
        }
    used = [checkpoint for checkpoint in kept.values() if checkpoint]
    for checkpoint in used:
        checkpoint.remove()
    return Trained(
        _record(plan, tokens, measured),
        _curve(measured),
        _gradient(measured),
        sum(checkpoint.seconds_before for checkpoint in used),
    )


def _key(plan: RecurrentPlan, tokens: Tokens, device: torch.device) -> str:
    """What a checkpoint must agree on before it is used."""
    text = [tokens.corpus_sha256, tokens.vocab_size, len(tokens.train_N)]
    where = [device.type, torch.__version__, torch.get_num_threads()]
    return settings_digest({"settings": plan.settings, "text": text, "where": where})


def _measure_seed(
    plan: RecurrentPlan,
    tokens: Tokens,
    seed: int,
    device: torch.device,
    label: str,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> Seed:
    with global_seed(seed, "initialisation"):
        model = build_model(plan.spec, tokens.vocab_size).to(device)
    held_out_N = tokens.held_out_N.to(device)
    # As many training tokens as there are held-out ones: the same effort, the same precision.
    training_N = tokens.train_N[: len(held_out_N)].to(device)
    context = plan.spec.context
    ids_BT, next_BT = next(side_by_side(held_out_N, context, plan.gradient.windows))
    at_start = reach(model, ids_BT, next_BT[:, -1])
    curve = _train(plan, tokens, model, held_out_N, seed, label, progress, checkpoint)
    return Seed(
        parameters=parameter_count(model),
        curve=curve,
        losses={
            "held_out": mean_loss(model, held_out_N, context),
            "training": mean_loss(model, training_N, context),
        },
        reaches={AT_START: at_start, AT_END: reach(model, ids_BT, next_BT[:, -1])},
    )


def _train(
    plan: RecurrentPlan,
    tokens: Tokens,
    model: LanguageModel,
    held_out_N: Tensor,
    seed: int,
    label: str,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> list[dict[str, Any]]:
    context = plan.spec.context
    steps_before = plan.budget.steps * plan.budget.seeds.index(seed)
    latest = ""

    def evaluate() -> Mapping[str, float]:
        nonlocal latest
        loss = mean_loss(model, held_out_N, context)
        latest = f"seed {seed}, held-out perplexity {perplexity(loss):.2f}"
        return {"held_out_loss": loss}

    return train(
        model,
        random_windows(tokens.train_N.to(held_out_N.device), context, plan.budget.batch_size),
        plan.budget,
        seed,
        name=label,
        evaluate=evaluate,
        on_step=lambda step: progress.reach(steps_before + step, latest),
        checkpoint=checkpoint,
    )


def _record(plan: RecurrentPlan, tokens: Tokens, measured: Mapping[int, Seed]) -> dict[str, Any]:
    held_out, training = (
        {seed: found.losses[split] for seed, found in measured.items()}
        for split in ("held_out", "training")
    )
    predicted, n_bytes = len(tokens.held_out_N) - 1, tokens.held_out_bytes
    return {
        "protocol": protocol(plan.settings, tokens.corpus_sha256, plan.training.fraction),
        "parameters": next(iter(measured.values())).parameters,
        "held_out": {
            "perplexity": _perplexities(held_out),
            "bits_per_byte": spread(
                {seed: bits_per_byte(loss, predicted, n_bytes) for seed, loss in held_out.items()}
            ),
        },
        "training": {"perplexity": _perplexities(training)},
        "gradient": {
            "far": plan.gradient.far,
            **{when: _reaches(plan, measured, when) for when in (AT_START, AT_END)},
        },
    }


def _perplexities(losses: Mapping[int, float]) -> dict[str, Any]:
    return spread({seed: perplexity(loss) for seed, loss in losses.items()})


def _reaches(plan: RecurrentPlan, measured: Mapping[int, Seed], when: str) -> dict[str, Any]:
    far = plan.gradient.far
    reaches = {seed: found.reaches[when] for seed, found in measured.items()}
    return {
        "far_over_near": spread({seed: found.ratio(far) for seed, found in reaches.items()}),
        "decay": spread({seed: found.decay(far) for seed, found in reaches.items()}),
        "reach": spread({seed: found.longest for seed, found in reaches.items()}),
    }


def _curve(measured: Mapping[int, Seed]) -> list[list[Any]]:
    return [
        [seed, *(row.get(name) for name in CURVE_COLUMNS[1:])]
        for seed, found in measured.items()
        for row in found.curve
    ]


def _gradient(measured: Mapping[int, Seed]) -> list[list[Any]]:
    return [
        [seed, when, distance, *norms]
        for seed, found in measured.items()
        for when, one in found.reaches.items()
        for distance, norms in enumerate(zip(one.low, one.median, one.high, strict=True))
    ]
