"""Models whose embedding is multiplied when it is read, tied to the output layer or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from remeasure.params.ablations import resolve
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.named_budget import named_budget
from remeasure.params.reading import check, mapping, section
from remeasure.params.training import Budget, TrainingSettings

SECTION = "scaled_embedding"


@dataclass(frozen=True)
class ScaledEmbeddingPlan:
    """One complete, checked description of a stage that trains with a scaled embedding."""

    spec: ModelSpec
    budget: Budget
    """Already scaled by `training.fraction`."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        further = {"precision": self.training.precision, "embedding": "scaled"}
        return settings_digest(self.spec, self.budget.seedless(), further)


def scaled_embedding_plan(params: Mapping[str, Any], name: str) -> ScaledEmbeddingPlan:
    """The plan of the entry `scaled_embedding.runs.<name>`. Raises ParameterError."""
    where = f"{SECTION}.runs.{name}"
    chosen = str(section(params, f"{SECTION}.budget"))
    training = check(TrainingSettings, section(params, "training"), "training")
    return ScaledEmbeddingPlan(
        spec=resolve(mapping(params, "base"), mapping(params, where), where),
        budget=named_budget(params, chosen, SECTION).at(training.fraction),
        training=training,
        addresses=(
            "base",
            f"{SECTION}.budget",
            where,
            f"budgets.{chosen}",
            "training.fraction",
            "training.precision",
        ),
    )
