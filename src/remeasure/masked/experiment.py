"""Train one described model to fill in hidden tokens, with each of its seeds, and ask it.

Shapes: B windows, T tokens of a window.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from remeasure.data.spaced import spaced_windows
from remeasure.data.tokens import Tokens
from remeasure.experiments.each_seed import Recipe, check_text, train_each_seed
from remeasure.masked.hiding import masked_windows
from remeasure.masked.model import MaskedModel
from remeasure.masked.orders import chain_rule, change_before
from remeasure.masked.scoring import baseline, filled_in
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.params.masked import AskedSettings, MaskedPlan
from remeasure.params.model import ModelSpec
from remeasure.records.over_seeds import over_seeds
from remeasure.records.protocol import protocol
from remeasure.training.evaluation import perplexity
from remeasure.training.numerics import set_up
from remeasure.training.seeds import generator

CURVE_COLUMNS = ("seed", "step", "batch_loss", "held_out_loss", "accuracy")
LEFT_TO_RIGHT, RIGHT_TO_LEFT, RANDOM = "left_to_right", "right_to_left", "random"


@dataclass(frozen=True)
class Trained:
    """What a stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""


def train_and_ask(plan: MaskedPlan, tokens: Tokens, label: str) -> Trained:
    """Train `plan.spec` with each seed of its budget and ask it about the held-out split.

    Raises UserError if the text is too short, a loss is not finite, or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    context, vocab_size, asked = plan.spec.context, tokens.vocab_size, plan.asked
    check_text(tokens, context)
    whole_BT, _ = spaced_windows(tokens.held_out_N.to(device), context)
    some_BT, _ = spaced_windows(tokens.held_out_N.to(device), context, asked.windows)

    def evaluate(model: MaskedModel) -> Mapping[str, float]:
        found = filled_in(model, whole_BT, asked.curve_percent / 100, asked.seed)
        return {"held_out_loss": found["loss"], "accuracy": found["accuracy"]}

    def measure(model: MaskedModel) -> Mapping[str, float]:
        model.eval()
        return {
            **_by_share(model, whole_BT, asked),
            **_by_order(model, some_BT, asked.seed),
            **_revealed(model, plan.spec, some_BT),
        }

    recipe = Recipe(
        make=lambda: MaskedModel(build(plan.spec, vocab_size + 1), vocab_size).to(device),
        draw=masked_windows(
            tokens.train_N.to(device), context, plan.budget.batch_size, plan.share, vocab_size
        ),
        evaluate=evaluate,
        measure=measure,
    )
    found = train_each_seed(recipe, plan.budget, CURVE_COLUMNS, label)
    known = {"whole_split": whole_BT, "ordered_windows": some_BT}
    record = {
        "protocol": protocol(plan.settings, tokens.corpus_sha256, plan.training.fraction),
        "parameters": found.parameters,
        "tokens": {name: windows_BT.numel() for name, windows_BT in known.items()},
        "baseline": {
            name: baseline(tokens.train_N, windows_BT.flatten().cpu(), vocab_size)
            for name, windows_BT in known.items()
        },
        **over_seeds(found.measured),
    }
    return Trained(record, found.curve)


def _by_share(model: MaskedModel, whole_BT: Tensor, asked: AskedSettings) -> dict[str, float]:
    """Accuracy and perplexity by the percentage that is hidden."""
    found = {p: filled_in(model, whole_BT, p / 100, asked.seed) for p in asked.percents}
    return {
        f"hidden.{percent}.{name}": scores[name]
        for percent, scores in found.items()
        for name in ("accuracy", "perplexity")
    }


def _by_order(model: MaskedModel, some_BT: Tensor, seed: int) -> dict[str, float]:
    """The same windows by the chain rule in three orders, in nats a token.

    `after_the_first` leaves out the first token of each window, which a causal model is not asked.
    Differences are per window: nats a token from left to right minus those of the other order,
    the mean of their sizes.
    """
    length = some_BT.shape[1]
    orders = {
        LEFT_TO_RIGHT: torch.arange(length),
        RIGHT_TO_LEFT: torch.arange(length).flip(0),
        RANDOM: torch.randperm(length, generator=generator(seed, "order")),
    }
    nats = {
        name: chain_rule(model.log_probabilities, some_BT, order_T, model.mask_id)
        for name, order_T in orders.items()
    }
    after_the_first = float(nats[LEFT_TO_RIGHT][:, 1:].mean())
    per_window = {name: nats_BT.mean(1) for name, nats_BT in nats.items()}
    differences = {
        name: float((per_window[LEFT_TO_RIGHT] - per_window[name]).abs().mean())
        for name in (RIGHT_TO_LEFT, RANDOM)
    }
    return {
        **{f"orders.{name}.nats": float(nats_BT.mean()) for name, nats_BT in nats.items()},
        "orders.left_to_right.after_the_first.perplexity": perplexity(after_the_first),
        **{f"orders.{name}.difference": value for name, value in differences.items()},
    }


def _revealed(model: MaskedModel, spec: ModelSpec, some_BT: Tensor) -> dict[str, float]:
    """How the places before the middle change when its token is revealed.

    Beside it the same weights with the causal mask put back.
    """
    masked = _causal_twin(model, spec)
    place = some_BT.shape[1] // 2
    largest, relative = change_before(model.features, some_BT, place, model.mask_id)
    causal, _ = change_before(masked.features, some_BT, place, model.mask_id)
    return {
        "revealed.largest_change": largest,
        "revealed.relative_change": relative,
        "revealed.causal_largest_change": causal,
    }


def _causal_twin(model: MaskedModel, spec: ModelSpec) -> LanguageModel:
    twin = build(spec.model_copy(update={"causal": True}), model.mask_id + 1)
    twin.load_state_dict(model.model.state_dict())
    return twin.to(model.model.output.weight.device).eval()
