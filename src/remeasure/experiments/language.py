"""Train one described model on the corpus with each of its seeds, and measure it.

Shapes: N tokens of a split, B windows, T tokens of a window.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from remeasure.data.batches import random_windows
from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import parameter_count
from remeasure.params.ablations import TrainingPlan
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.probes.attention_statistics import attention_statistics
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread
from remeasure.training.checkpoint import Checkpoint
from remeasure.training.evaluation import bits_per_byte, mean_loss, perplexity
from remeasure.training.loop import train
from remeasure.training.numerics import set_up
from remeasure.training.seeds import global_seed

OBSERVED_WINDOWS = 16
"""Attention is observed on the first windows of the held-out split."""

CURVE_COLUMNS = (
    "seed",
    "step",
    "batch_loss",
    "held_out_loss",
    "score_std",
    "entropy",
    "effective_tokens",
    "frozen_rows",
)


@dataclass(frozen=True)
class Trained:
    """What a training stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""
    first_model: LanguageModel
    """The trained model of the first seed, on the CPU."""
    seconds_before: float = field(compare=False)
    """Spent by earlier processes on the checkpoints that were used."""


def train_and_measure(
    plan: TrainingPlan, tokens: Tokens, label: str, checkpoints: Path | None
) -> Trained:
    """Train `plan.spec` with each seed of its budget and evaluate it on both splits.

    `checkpoints` is a folder for unfinished trainings, None to keep none. Raises UserError if the
    text is too short for the windows, a loss is not finite, or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    longest = max(plan.spec.context, *plan.budget.windows(plan.spec))
    if len(tokens.held_out_N) <= longest or len(tokens.train_N) < len(tokens.held_out_N):
        raise UserError(
            f"the text has {len(tokens.train_N)} training and {len(tokens.held_out_N)} held-out"
            f" tokens: too few for windows of {longest}; use a longer text or a shorter context"
        )
    key = _key(plan, tokens, device)
    measured: dict[int, dict[str, float | None]] = {}
    curve: list[list[Any]] = []
    models: list[LanguageModel] = []
    kept: list[Checkpoint] = []
    with Progress(label, plan.budget.steps * len(plan.budget.seeds)) as progress:
        for seed in plan.budget.seeds:
            with global_seed(seed, "initialisation"):
                model = build(plan.spec, tokens.vocab_size)
            checkpoint = checkpoints and Checkpoint(
                checkpoints / f"{key}-{seed}.safetensors", f"{key}-{seed}"
            )
            kept += [checkpoint] if checkpoint else []
            rows = _train_seed(
                plan, tokens, model.to(device), seed, label, progress, checkpoint or None
            )
            measured[seed] = {
                **_final(plan, tokens, model, device),
                **_attention(rows[0], "at_start"),
                **_attention(rows[-1], "at_end"),
            }
            curve += [[seed, *(row.get(name) for name in CURVE_COLUMNS[1:])] for row in rows]
            models = models or [model.cpu()]
    for checkpoint in kept:
        checkpoint.remove()
    return Trained(
        _record(plan, tokens, models[0], measured),
        curve,
        models[0],
        sum(checkpoint.seconds_before for checkpoint in kept),
    )


def _key(plan: TrainingPlan, tokens: Tokens, device: torch.device) -> str:
    """What a checkpoint must agree on before it is used."""
    text = [tokens.corpus_sha256, tokens.vocab_size, len(tokens.train_N)]
    where = [device.type, torch.__version__, torch.get_num_threads()]
    return settings_digest({"settings": plan.settings, "text": text, "where": where})


def _train_seed(
    plan: TrainingPlan,
    tokens: Tokens,
    model: LanguageModel,
    seed: int,
    label: str,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> list[dict[str, Any]]:
    context = plan.spec.context
    device = model.output.weight.device
    held_out_N = tokens.held_out_N.to(device)
    windows = min(OBSERVED_WINDOWS, len(held_out_N) // context)
    observed_BT = held_out_N[: windows * context].view(windows, context)
    steps_before = plan.budget.steps * plan.budget.seeds.index(seed)
    latest = ""

    def evaluate() -> Mapping[str, float | None]:
        nonlocal latest
        loss = mean_loss(model, held_out_N, context)
        latest = f"seed {seed}, held-out perplexity {perplexity(loss):.2f}"
        return {"held_out_loss": loss, **attention_statistics(model, observed_BT)}

    return train(
        model,
        random_windows(tokens.train_N.to(device), context, plan.budget.batch_size),
        plan.budget,
        seed,
        name=label,
        evaluate=evaluate,
        on_step=lambda step: progress.reach(steps_before + step, latest),
        checkpoint=checkpoint,
    )


def _final(
    plan: TrainingPlan, tokens: Tokens, model: LanguageModel, device: torch.device
) -> dict[str, float | None]:
    """Perplexities of the trained model, by address in the record."""
    context = plan.spec.context
    held_out_N = tokens.held_out_N.to(device)
    # As many training tokens as there are held-out ones: the same effort, the same precision.
    training_N = tokens.train_N[: len(held_out_N)].to(device)
    loss = mean_loss(model, held_out_N, context)
    found: dict[str, float | None] = {
        "held_out.perplexity": perplexity(loss),
        "held_out.bits_per_byte": bits_per_byte(loss, len(held_out_N) - 1, tokens.held_out_bytes),
        "training.perplexity": perplexity(mean_loss(model, training_N, context)),
    }
    for window in plan.budget.evaluated_at:
        found[f"by_window.{window}"] = perplexity(mean_loss(model, held_out_N, window))
    if plan.also_evaluated is not None:
        other = _with_weights_of(model, plan.also_evaluated, tokens.vocab_size).to(device)
        found["evaluated_otherwise.perplexity"] = perplexity(mean_loss(other, held_out_N, context))
    return found


def _with_weights_of(model: LanguageModel, spec: ModelSpec, vocab_size: int) -> LanguageModel:
    other = build(spec, vocab_size)
    other.load_state_dict(model.state_dict())
    return other


def _attention(row: Mapping[str, Any], when: str) -> dict[str, float | None]:
    names = ("score_std", "entropy", "effective_tokens", "frozen_rows")
    return {f"attention.{when}.{name}": row.get(name) for name in names}


def _record(
    plan: TrainingPlan,
    tokens: Tokens,
    model: LanguageModel,
    measured: Mapping[int, Mapping[str, float | None]],
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "protocol": protocol(plan.settings, tokens.corpus_sha256, plan.training.fraction),
        "parameters": parameter_count(model),
    }
    for address in measured[plan.budget.seeds[0]]:
        values = {seed: found[address] for seed, found in measured.items()}
        present = {seed: value for seed, value in values.items() if value is not None}
        if present:
            _place(record, address, spread(present))
    return record


def _place(record: dict[str, Any], address: str, value: Any) -> None:
    *folders, name = address.split(".")
    for folder in folders:
        record = record.setdefault(folder, {})
    record[name] = value
