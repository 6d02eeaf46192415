"""Train on whole sentences: the loop of `training.loop`, with a sentence for a window.

Shapes: N training sentences, L words of a sentence.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from remeasure.errors import UserError
from remeasure.params.training import Budget
from remeasure.training.interface import Trainable
from remeasure.training.loop import FIRST_STEPS, learning_rate
from remeasure.training.seeds import generator, global_seed


def train_on_sentences(
    model: Trainable,
    sentences_NL: Tensor,
    budget: Budget,
    seed: int,
    *,
    evaluate: Callable[[], Mapping[str, float]],
    on_step: Callable[[], None],
) -> list[dict[str, Any]]:
    """Train `model` in place with AdamW on batches drawn with replacement; returns its curve.

    The loss is that of every next word of a sentence. A row holds `step` and `batch_loss` (nats;
    None before the first) for each of the first 50 steps and wherever `evaluate` is called, and
    there what it returns: at step 0, every `budget.evaluate_every` steps and after the last.
    `sentences_NL` lies on the model's device. Raises UserError at a loss that is not finite.
    """
    rows: list[dict[str, Any]] = [{"step": 0, "batch_loss": None, **evaluate()}]
    data_generator = generator(seed, "data")
    optimizer = torch.optim.AdamW(model.parameters(), lr=budget.learning_rate, fused=True)
    with global_seed(seed, "dropout"):
        model.train()
        for step in range(1, budget.steps + 1):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, budget)
            chosen_B = torch.randint(
                len(sentences_NL), (budget.batch_size,), generator=data_generator
            )
            batch_BL = sentences_NL[chosen_B.to(sentences_NL.device)]
            loss = model.loss(batch_BL[:, :-1], batch_BL[:, 1:])
            batch_loss = loss.item()
            if not math.isfinite(batch_loss):
                raise UserError(
                    f"the training loss is {batch_loss} at step {step} with seed {seed};"
                    " a lower learning_rate, more warmup_steps or norm pre usually prevents that"
                )
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            evaluated = step % budget.evaluate_every == 0 or step == budget.steps
            if evaluated or step <= FIRST_STEPS:
                row = {"step": step, "batch_loss": batch_loss}
                rows.append({**row, **evaluate()} if evaluated else row)
            on_step()
    return rows
