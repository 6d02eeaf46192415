"""The training loop: AdamW on random batches, with the curve that later checks a change of code."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from remeasure.data.batches import Draw
from remeasure.errors import UserError
from remeasure.params.training import Budget
from remeasure.training.checkpoint import Checkpoint, Training
from remeasure.training.interface import Trainable
from remeasure.training.seeds import generator, global_seed

FIRST_STEPS = 50
"""The loss of each of these first steps is kept in full precision, and an evaluation after them."""

Evaluate = Callable[[], Mapping[str, float | None]]
OnStep = Callable[[int], None]


def train(
    model: Trainable,
    draw: Draw,
    budget: Budget,
    seed: int,
    *,
    name: str,
    evaluate: Evaluate,
    on_step: OnStep,
    checkpoint: Checkpoint | None = None,
) -> list[dict[str, Any]]:
    """Train `model` in place on the batches of `draw`; returns the rows of its curve.

    A row holds `step` and `batch_loss` (nats, of that step's batch; None before the first) for each
    of the first 50 steps and wherever `evaluate` is called, and there what `evaluate` returns: at
    step 0, after step 50, every `budget.evaluate_every` steps and after the last. The learning rate
    climbs linearly over `budget.warmup_steps` and then stays. `draw` gives tensors on the model's
    device. Raises UserError at the first loss that is not finite; it says that `name` was training.
    """
    with global_seed(seed, "dropout"):
        optimizer = torch.optim.AdamW(model.parameters(), lr=budget.learning_rate, fused=True)
        training = Training(model, optimizer, generator(seed, "data"), step=0, rows=[])
        if checkpoint is not None:
            checkpoint.restore(training)
        if training.step == 0:
            training.rows.append({"step": 0, "batch_loss": None, **evaluate()})
        model.train()
        while training.step < budget.steps:
            training.step += 1
            batch_loss = _step(training, draw, budget, f"{name}, seed {seed}")
            _note(training, batch_loss, budget, evaluate)
            on_step(training.step)
            if checkpoint is not None:
                checkpoint.keep(training)
        if checkpoint is not None:
            checkpoint.keep(training, finished=True)
        return training.rows


def learning_rate(step: int, budget: Budget) -> float:
    """The rate at a step counted from 1: linear warmup, then constant."""
    if step < budget.warmup_steps:
        return budget.learning_rate * step / budget.warmup_steps
    return budget.learning_rate


def _step(training: Training, draw: Draw, budget: Budget, who: str) -> float:
    for group in training.optimizer.param_groups:
        group["lr"] = learning_rate(training.step, budget)
    ids_BT, next_BT = draw(training.data_generator)
    loss = training.model.loss(ids_BT, next_BT)
    batch_loss = loss.item()
    if not math.isfinite(batch_loss):
        raise UserError(
            f"{who}: the training loss is {batch_loss} at step {training.step};"
            " a lower learning_rate, more warmup_steps or norm pre usually prevents that"
        )
    loss.backward()
    training.optimizer.step()
    training.optimizer.zero_grad(set_to_none=True)
    return batch_loss


def _note(training: Training, batch_loss: float, budget: Budget, evaluate: Evaluate) -> None:
    step = training.step
    evaluated = step == FIRST_STEPS or step == budget.steps or step % budget.evaluate_every == 0
    if evaluated or step < FIRST_STEPS:
        row = {"step": step, "batch_loss": batch_loss}
        training.rows.append({**row, **evaluate()} if evaluated else row)
