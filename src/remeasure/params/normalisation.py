"""Which norm stands in the block, and how the trained model is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from remeasure.errors import ParameterError
from remeasure.params.ablations import resolve
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.named_budget import named_budget
from remeasure.params.reading import Settings, check, mapping, section
from remeasure.params.training import Budget, TrainingSettings


class Run(Settings):
    """A budget, and the norm: over a token's features with or without their mean, or the batch."""

    budget: str
    kind: Literal["layer", "rms", "batch"]


class AskedSettings(Settings):
    """Windows of the held-out split that every mode is measured on, and how many are a batch."""

    windows: Annotated[int, Field(ge=2, le=65536)]
    batch_size: Annotated[int, Field(ge=2, le=65536)]


@dataclass(frozen=True)
class NormalisationPlan:
    """One complete, checked description of a stage that exchanges the norm."""

    kind: str
    asked: AskedSettings
    spec: ModelSpec
    budget: Budget
    """Already scaled by `training.fraction`."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        further = {"precision": self.training.precision, "kind": self.kind}
        return settings_digest(self.spec, self.budget.seedless(), self.asked, further)


def normalisation_plan(params: Mapping[str, Any], name: str) -> NormalisationPlan:
    """The plan of the entry `normalisation.runs.<name>`. Raises ParameterError."""
    where = f"normalisation.runs.{name}"
    base, entry = mapping(params, "base"), mapping(params, where)
    own = [key for key in entry if key in Run.model_fields]
    run = check(Run, {key: entry[key] for key in own}, where)
    spec = resolve(base, {key: value for key, value in entry.items() if key not in own}, where)
    _check_spec(spec, where)
    training = check(TrainingSettings, section(params, "training"), "training")
    asked = "normalisation.asked"
    return NormalisationPlan(
        kind=run.kind,
        asked=check(AskedSettings, section(params, asked), asked),
        spec=spec,
        budget=named_budget(params, run.budget, where).at(training.fraction),
        training=training,
        addresses=(
            "base",
            asked,
            where,
            f"budgets.{run.budget}",
            "training.fraction",
            "training.precision",
        ),
    )


def _check_spec(spec: ModelSpec, where: str) -> None:
    if spec.norm == "none":
        raise ParameterError(f"{where}.norm: none is no norm to exchange; allowed are pre, post")
    if not spec.causal:
        raise ParameterError(f"{where}.causal: false allows no cache; allowed is true")
    if spec.dropout:
        raise ParameterError(
            f"{where}.dropout: {spec.dropout} would act in training mode too, which is measured"
            " for the norm alone; allowed is 0.0"
        )
