"""The loop and the evaluation: reproducible to the bit, resumable to the bit, honest about failure.

The golden curve was printed by this test's own model and settings; a change of arithmetic beyond
rounding moves it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from remeasure.data.batches import random_windows
from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.params.ablations import resolve
from remeasure.params.model import ModelSpec
from remeasure.params.training import Budget
from remeasure.training.checkpoint import Checkpoint
from remeasure.training.evaluation import bits_per_byte, mean_loss, perplexity
from remeasure.training.loop import FIRST_STEPS, learning_rate, train
from remeasure.training.seeds import derived, generator, global_seed

GOLDEN = {1: 3.0686235, 10: 2.6389513, 30: 1.9279933}


def budget(**changes: Any) -> Budget:
    """A few quick steps."""
    settings = {
        "steps": 30,
        "batch_size": 8,
        "learning_rate": 1e-2,
        "warmup_steps": 0,
        "evaluate_every": 10,
        "evaluated_at": [],
        "seeds": [0],
    }
    return Budget.model_validate(settings | changes)


def run(
    spec: ModelSpec,
    tokens: Tokens,
    seed: int = 0,
    *,
    checkpoint: Checkpoint | None = None,
    on_step: Callable[[int], None] = lambda step: None,
    built: Callable[[LanguageModel], None] = lambda model: None,
    **changes: Any,
) -> tuple[list[dict[str, Any]], LanguageModel]:
    """Train the small model; returns its curve and itself."""
    with global_seed(seed, "initialisation"):
        model = build(spec, tokens.vocab_size)
    built(model)
    settings = budget(**changes)
    rows = train(
        model,
        random_windows(tokens.train_N, spec.context, settings.batch_size),
        settings,
        seed,
        name="small",
        evaluate=lambda: {"held_out_loss": mean_loss(model, tokens.held_out_N, spec.context)},
        on_step=on_step,
        checkpoint=checkpoint,
    )
    return rows, model


def test_golden_curve(small_spec: ModelSpec, small_tokens: Tokens) -> None:
    rows, _ = run(small_spec, small_tokens)
    losses = {row["step"]: row["batch_loss"] for row in rows}
    assert {step: losses[step] for step in GOLDEN} == pytest.approx(GOLDEN, rel=1e-4)


def test_same_seed_same_bits_other_seed_other_curve(
    small_spec: ModelSpec, small_tokens: Tokens
) -> None:
    spec = resolve(small_spec.model_dump(), {"dropout": 0.2}, "test")
    first, second = run(spec, small_tokens)[0], run(spec, small_tokens)[0]
    assert first == second
    assert first != run(spec, small_tokens, seed=1)[0]


def test_what_is_recorded(small_spec: ModelSpec, small_tokens: Tokens) -> None:
    rows, _ = run(small_spec, small_tokens, steps=63, evaluate_every=20)
    assert [row["step"] for row in rows] == [*range(FIRST_STEPS + 1), 60, 63]
    evaluated = [row["step"] for row in rows if "held_out_loss" in row]
    assert evaluated == [0, 20, 40, 50, 60, 63]


def test_evaluation_disturbs_nothing(small_spec: ModelSpec, small_tokens: Tokens) -> None:
    spec = resolve(small_spec.model_dump(), {"dropout": 0.2}, "test")
    often = run(spec, small_tokens, evaluate_every=1)[0]
    seldom = run(spec, small_tokens, evaluate_every=30)[0]
    assert [row["batch_loss"] for row in often] == [row["batch_loss"] for row in seldom]


class Killed(Exception):
    """Stands for SIGKILL: the process ends where it is."""


@pytest.mark.parametrize("at", [1, 7, 29])
def test_a_killed_training_goes_on_bit_for_bit(
    small_spec: ModelSpec, small_tokens: Tokens, tmp_path: Path, at: int
) -> None:
    spec = resolve(small_spec.model_dump(), {"dropout": 0.2}, "test")
    undisturbed, model = run(spec, small_tokens)

    def kill(step: int) -> None:
        if step == at + 1:
            raise Killed

    def checkpoint() -> Checkpoint:
        return Checkpoint(tmp_path / "c.safetensors", "key", seconds_between=0)

    if at < 29:
        with pytest.raises(Killed):
            run(spec, small_tokens, checkpoint=checkpoint(), on_step=kill)
        assert (tmp_path / "c.safetensors").exists()
    steps: list[int] = []
    resumed, resumed_model = run(spec, small_tokens, checkpoint=checkpoint(), on_step=steps.append)
    assert resumed == undisturbed
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, resumed_model.state_dict()[name]), name
    assert steps[0] == (at + 1 if at < 29 else 1)
    last = checkpoint()
    again, _ = run(spec, small_tokens, checkpoint=last, on_step=steps.append)
    assert again == undisturbed
    assert last.seconds_before > 0, "the time of those before counts"
    assert steps[-1] == 30, "what is finished is not trained again"
    assert len(steps) == (30 - at if at < 29 else 30)


@pytest.mark.parametrize("damage", ["foreign", "truncated", "empty", "garbage"])
def test_an_unusable_checkpoint_is_passed_over_with_a_warning(
    small_spec: ModelSpec,
    small_tokens: Tokens,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: str,
) -> None:
    path = tmp_path / "c.safetensors"

    def kill(step: int) -> None:
        if step == 5:
            raise Killed

    with pytest.raises(Killed):
        run(small_spec, small_tokens, checkpoint=Checkpoint(path, "key", 0), on_step=kill)
    content = path.read_bytes()
    key = "other" if damage == "foreign" else "key"
    damaged = {"truncated": content[:-50], "empty": b"", "garbage": b"\xff" * 200}
    path.write_bytes(damaged.get(damage, content))
    undisturbed, _ = run(small_spec, small_tokens)
    resumed, _ = run(small_spec, small_tokens, checkpoint=Checkpoint(path, key, 1e9))
    assert resumed == undisturbed
    assert "starting afresh" in caplog.text


def test_a_loss_that_is_not_finite_stops_with_its_place(
    small_spec: ModelSpec, small_tokens: Tokens
) -> None:
    def poison(step: int) -> None:
        if step == 3:
            with torch.no_grad():
                models[0].output.bias.fill_(float("inf"))

    models: list[LanguageModel] = []
    with pytest.raises(UserError, match=r"small, seed 0: the training loss is nan at step 4;"):
        run(small_spec, small_tokens, on_step=poison, built=models.append)


def test_warmup_climbs_linearly_and_stays() -> None:
    warm = budget(warmup_steps=4, learning_rate=0.8)
    rates = [learning_rate(step, warm) for step in range(1, 7)]
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])
    assert learning_rate(1, budget()) == 1e-2


def test_mean_loss_counts_every_token_but_the_first_once(
    small_spec: ModelSpec, small_tokens: Tokens
) -> None:
    """Against one window at a time, cut by hand; the length is no multiple of the window."""
    torch.manual_seed(0)
    model = build(small_spec, 17).double()
    ids_N, context = small_tokens.held_out_N[:101], 12
    total = 0.0
    for start in range(0, 100, context):
        window = ids_N[start : start + context + 1]
        logits = model(window[None, :-1])[0]
        total += F.cross_entropy(logits, window[1:], reduction="sum").item()
    assert mean_loss(model, ids_N, context) == pytest.approx(total / 100, rel=1e-12)


def test_evaluation_is_without_dropout_and_restores_the_mode(
    small_spec: ModelSpec, small_tokens: Tokens
) -> None:
    spec = resolve(small_spec.model_dump(), {"dropout": 0.5}, "test")
    model = build(spec, 17).train()
    losses = {mean_loss(model, small_tokens.held_out_N, 12) for _ in range(3)}
    assert len(losses) == 1
    assert model.training


def test_units() -> None:
    assert perplexity(0.0) == 1.0
    assert perplexity(1e6) > 1e300
    assert bits_per_byte(0.6931471805599453, 10, 5) == pytest.approx(2.0)


def test_streams_of_one_seed_are_unrelated() -> None:
    assert len({derived(seed, use) for seed in range(20) for use in ("data", "dropout")}) == 40
    draws = {float(torch.rand(1, generator=generator(0, use))) for use in ("data", "dropout")}
    assert len(draws) == 2


def test_global_seed_leaves_no_trace() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    with global_seed(0, "initialisation"):
        torch.rand(3)
    assert torch.equal(torch.rand(1), expected)
