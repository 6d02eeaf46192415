"""Train one described model with a scaled embedding, with each of its seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from remeasure.data.batches import random_windows
from remeasure.data.tokens import Tokens
from remeasure.experiments.each_seed import Recipe, check_text, train_each_seed
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.params.scaled_embedding import ScaledEmbeddingPlan
from remeasure.records.over_seeds import over_seeds
from remeasure.records.protocol import protocol
from remeasure.scaled_embedding.embedding import scale_embedding
from remeasure.training.evaluation import mean_loss, perplexity
from remeasure.training.numerics import set_up

CURVE_COLUMNS = ("seed", "step", "batch_loss", "held_out_loss")


@dataclass(frozen=True)
class Trained:
    """What a stage hands over to be written."""

    record: dict[str, Any]
    curve: list[list[Any]]
    """Rows in the order of CURVE_COLUMNS."""


def train_and_evaluate(plan: ScaledEmbeddingPlan, tokens: Tokens, label: str) -> Trained:
    """Train `plan.spec` with each seed of its budget; perplexity on both splits.

    Raises UserError if the text is too short, a loss is not finite, or the device is not there.
    """
    device = set_up(plan.training.device, plan.training.precision)
    context = plan.spec.context
    check_text(tokens, context)
    held_out_N = tokens.held_out_N.to(device)
    train_N = tokens.train_N.to(device)

    def make() -> LanguageModel:
        model = build(plan.spec, tokens.vocab_size)
        scale_embedding(model)
        return model.to(device)

    def measure(model: LanguageModel) -> Mapping[str, float | None]:
        # As many training tokens as there are held-out ones: the same effort, the same precision.
        splits = {"held_out": held_out_N, "training": train_N[: len(held_out_N)]}
        return {
            f"{split}.perplexity": perplexity(mean_loss(model, tokens_N, context))
            for split, tokens_N in splits.items()
        }

    recipe = Recipe(
        make=make,
        draw=random_windows(train_N, context, plan.budget.batch_size),
        evaluate=lambda model: {"held_out_loss": mean_loss(model, held_out_N, context)},
        measure=measure,
    )
    found = train_each_seed(recipe, plan.budget, CURVE_COLUMNS, label)
    record = {
        "protocol": protocol(plan.settings, tokens.corpus_sha256, plan.training.fraction),
        "parameters": found.parameters,
        **over_seeds(found.measured),
    }
    return Trained(record, found.curve)
