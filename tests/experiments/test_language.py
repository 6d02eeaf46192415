"""The record of a training stage: what stands in it, over seeds, reproducibly."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.experiments import language
from remeasure.experiments.language import CURVE_COLUMNS, Trained, train_and_measure
from remeasure.params.ablations import TrainingPlan, ablation_plan
from remeasure.progress import Progress
from remeasure.training.loop import train

TINY = {"d_model": 16, "context": 12}


def plan(params: dict[str, Any], fraction: float = 1.0, **entry: Any) -> TrainingPlan:
    """A small plan in the words of params.yaml."""
    budget = {
        **params["budgets"]["standard"],
        "steps": 20,
        "batch_size": 4,
        "evaluate_every": 10,
        "evaluated_at": [12, 24],
        "seeds": [3, 5],
    }
    changed = {
        **params,
        "budgets": {"tiny": budget},
        "ablations": {"x": {"budget": "tiny", "n_positions": 24, **TINY, **entry}},
        "training": {**params["training"], "fraction": fraction, "device": "cpu"},
    }
    return ablation_plan(changed, "x")


@pytest.fixture(scope="module")
def trained(params: dict[str, Any], small_tokens: Tokens) -> Trained:
    """One small block trained with two seeds, without the mask."""
    entry = {"causal": False, "evaluate_with": {"causal": True}}
    return train_and_measure(plan(params, **entry), small_tokens, "x", None)


def test_every_number_carries_its_seeds(trained: Trained) -> None:
    record = trained.record
    for found in (
        record["held_out"]["perplexity"],
        record["held_out"]["bits_per_byte"],
        record["training"]["perplexity"],
        record["by_window"]["24"],
        record["evaluated_otherwise"]["perplexity"],
        record["attention"]["at_start"]["score_std"],
        record["attention"]["at_end"]["effective_tokens"],
    ):
        assert (found["n"], list(found["per_seed"])) == (2, ["3", "5"])
        assert found["mean"] == pytest.approx(sum(found["per_seed"].values()) / 2)
    assert record["by_window"]["12"] == record["held_out"]["perplexity"]
    assert record["protocol"]["corpus"] == "0" * 64
    json.dumps(record, allow_nan=False)


def test_putting_the_mask_back_changes_the_verdict(trained: Trained) -> None:
    seen = trained.record["held_out"]["perplexity"]["mean"]
    masked = trained.record["evaluated_otherwise"]["perplexity"]["mean"]
    assert abs(math.log(masked / seen)) > 0.001


def test_the_curve_ends_at_the_recorded_perplexity(trained: Trained) -> None:
    rows = [dict(zip(CURVE_COLUMNS, row, strict=True)) for row in trained.curve]
    assert [row["step"] for row in rows if row["seed"] == 3] == list(range(21))
    for seed in (3, 5):
        last = [row for row in rows if row["seed"] == seed][-1]
        expected = trained.record["held_out"]["perplexity"]["per_seed"][str(seed)]
        assert math.exp(last["held_out_loss"]) == pytest.approx(expected)


def test_twice_the_same_is_the_same(params: dict[str, Any], small_tokens: Tokens) -> None:
    first, second = (
        train_and_measure(plan(params, dropout=0.1), small_tokens, "x", None) for _ in range(2)
    )
    assert first.record == second.record
    assert first.curve == second.curve
    for one, other in zip(
        first.first_model.parameters(), second.first_model.parameters(), strict=True
    ):
        assert torch.equal(one, other)


def test_models_without_attention_have_no_attention_numbers(
    params: dict[str, Any], small_tokens: Tokens
) -> None:
    uniform = train_and_measure(plan(params, mixer="uniform"), small_tokens, "x", None)
    assert "attention" not in uniform.record
    assert uniform.curve[0][CURVE_COLUMNS.index("score_std")] is None


def test_the_digest_knows_settings_and_not_seeds(
    params: dict[str, Any], small_tokens: Tokens
) -> None:
    def digest(of: TrainingPlan) -> str:
        record = train_and_measure(of, small_tokens, "x", None).record
        return str(record["protocol"]["settings"])

    first = plan(params)
    one_seed = first.budget.model_copy(update={"seeds": (9,)})
    other_seeds = TrainingPlan(first.spec, one_seed, None, first.training, first.addresses)
    assert digest(first) == digest(other_seeds)
    assert digest(first) != digest(plan(params, pos="rope"))


def test_a_fraction_is_recorded(params: dict[str, Any], small_tokens: Tokens) -> None:
    half = train_and_measure(plan(params, fraction=0.5), small_tokens, "x", None)
    assert half.record["protocol"]["fraction"] == 0.5
    assert max(row[1] for row in half.curve) == 10


def test_a_text_too_short_for_the_windows(params: dict[str, Any], small_tokens: Tokens) -> None:
    short = Tokens(small_tokens.train_N, small_tokens.held_out_N[:24], 17, 9, "0" * 64)
    with pytest.raises(UserError, match="too few for windows of 24"):
        train_and_measure(plan(params), short, "x", None)


def test_a_seed_that_was_finished_before_the_kill_is_not_trained_again(
    params: dict[str, Any],
    small_tokens: Tokens,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    undisturbed = train_and_measure(plan(params), small_tokens, "x", None)
    trained: list[int] = []

    def watched(*arguments: Any, **options: Any) -> Any:
        seed = arguments[3]
        if seed != plan(params).budget.seeds[0] and seed not in trained:
            trained.append(seed)
            raise KeyboardInterrupt
        return train(*arguments, **options)

    monkeypatch.setattr(language, "train", watched)
    with pytest.raises(KeyboardInterrupt):
        train_and_measure(plan(params), small_tokens, "x", tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    steps: list[int] = []
    monkeypatch.setattr(Progress, "reach", lambda self, done, note="": steps.append(done))
    resumed = train_and_measure(plan(params), small_tokens, "x", tmp_path)
    assert resumed.record == undisturbed.record
    assert resumed.curve == undisturbed.curve
    budget = plan(params).budget
    assert steps == list(range(budget.steps + 1, budget.steps * len(budget.seeds) + 1))
    assert not list(tmp_path.iterdir())
