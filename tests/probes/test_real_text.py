"""The probes on real text look at what a training with the same seed sees first."""

import pytest
import torch
from torch import Tensor

from remeasure.data.batches import random_windows
from remeasure.data.tokens import Tokens
from remeasure.models.build import build
from remeasure.params.model import ModelSpec
from remeasure.params.training import Budget
from remeasure.probes.real_text import training_windows
from remeasure.training.loop import train


@pytest.mark.parametrize("seed", [0, 6])
def test_windows_are_those_of_the_first_step(
    small_spec: ModelSpec, small_tokens: Tokens, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    model, seen = build(small_spec, small_tokens.vocab_size), []
    loss = model.loss

    def noted(ids_BT: Tensor, next_BT: Tensor) -> Tensor:
        seen.append((ids_BT, next_BT))
        return loss(ids_BT, next_BT)

    monkeypatch.setattr(model, "loss", noted)
    budget = Budget(
        steps=1,
        batch_size=4,
        learning_rate=1e-3,
        warmup_steps=0,
        evaluate_every=1,
        evaluated_at=(),
        seeds=(seed,),
    )
    train(
        model,
        random_windows(small_tokens.train_N, 12, budget.batch_size),
        budget,
        seed,
        name="a small model",
        evaluate=dict,
        on_step=lambda step: None,
    )
    ids_BT, next_BT = training_windows(small_tokens, context=12, windows=4, seed=seed)
    assert torch.equal(seen[0][0], ids_BT)
    assert torch.equal(seen[0][1], next_BT)
