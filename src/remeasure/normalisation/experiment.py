"""Train one described model with another norm in it, with each of its seeds, and ask it.

Shapes: B windows, T tokens of a window.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from remeasure.data.batches import random_windows
from remeasure.data.spaced import spaced_windows
from remeasure.data.tokens import Tokens
from remeasure.experiments.each_seed import Recipe, check_text, train_each_seed
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.normalisation.leak import later_token, other_window
from remeasure.normalisation.modes import WAYS, asked
from remeasure.normalisation.norms import exchange
from remeasure.params.normalisation import NormalisationPlan
from remeasure.records.over_seeds import over_seeds
from remeasure.records.protocol import protocol
from remeasure.training.evaluation import mean_loss, perplexity
from remeasure.training.numerics import set_up

CURVE_COLUMNS = ("seed", "step", "batch_loss", "held_out_loss")
MODES = {"evaluation": False, "training": True}


@dataclass(frozen=True)
class Trained:
    """What a stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""


def train_and_ask(plan: NormalisationPlan, tokens: Tokens, label: str) -> Trained:
    """Train `plan.spec` with norms of `plan.kind`, with each seed of its budget.

    Raises UserError if the text is too short, a loss is not finite, or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    context, batch_size = plan.spec.context, plan.asked.batch_size
    check_text(tokens, context)
    held_out_N = tokens.held_out_N.to(device)
    ids_BT, next_BT = spaced_windows(held_out_N, context, plan.asked.windows)

    def make() -> LanguageModel:
        model = build(plan.spec, tokens.vocab_size)
        exchange(model, plan.kind)
        return model.to(device)

    def measure(model: LanguageModel) -> Mapping[str, float | None]:
        return {
            "held_out.perplexity": perplexity(mean_loss(model, held_out_N, context)),
            **_by_mode(model, ids_BT, next_BT, batch_size),
            **_leaks(model, ids_BT[:batch_size], tokens.vocab_size),
        }

    recipe = Recipe(
        make=make,
        draw=random_windows(tokens.train_N.to(device), context, plan.budget.batch_size),
        evaluate=lambda model: {"held_out_loss": mean_loss(model, held_out_N, context)},
        measure=measure,
    )
    found = train_each_seed(recipe, plan.budget, CURVE_COLUMNS, label)
    record = {
        "protocol": protocol(plan.settings, tokens.corpus_sha256, plan.training.fraction),
        "parameters": found.parameters,
        "windows": {"asked": len(ids_BT), "batch": min(batch_size, len(ids_BT))},
        **over_seeds(found.measured),
    }
    return Trained(record, found.curve)


def _by_mode(
    model: LanguageModel, ids_BT: Tensor, next_BT: Tensor, batch_size: int
) -> dict[str, float | None]:
    """Perplexities of the same windows: whole or by token, in either mode, many at once or one."""
    return {
        f"modes.{way}.{mode}.{batch}": asked(
            model, way, ids_BT, next_BT, batch_size=size, training=training
        )
        for way in WAYS
        for mode, training in MODES.items()
        for batch, size in (("batch", batch_size), ("single", 1))
    }


def _leaks(model: LanguageModel, batch_BT: Tensor, vocab_size: int) -> dict[str, float]:
    return {
        f"leak.{mode}.{name}": leak(model, batch_BT, vocab_size, training=training)
        for mode, training in MODES.items()
        for name, leak in (("later_token", later_token), ("other_window", other_window))
    }
