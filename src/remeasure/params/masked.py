"""Filling in hidden tokens: how much is hidden in training, and what is asked afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, model_validator

from remeasure.errors import ParameterError
from remeasure.params.ablations import resolve
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.named_budget import named_budget
from remeasure.params.reading import Settings, check, mapping, section
from remeasure.params.training import Budget, TrainingSettings

Percent = Annotated[int, Field(ge=1, le=100)]
Fraction = Annotated[float, Field(ge=0, le=1)]


class Run(Settings):
    """A budget, and the lowest and the highest share of a training window that is hidden.

    Each window's share is drawn uniformly between the two; equal ones fix it.
    """

    budget: str
    share: Annotated[tuple[Fraction, Fraction], Field(strict=False)]

    @model_validator(mode="after")
    def _lowest_first(self) -> "Run":
        low, high = self.share
        if low > high:
            raise ValueError(f"share {list(self.share)} must have its lowest value first")
        return self


class AskedSettings(Settings):
    """What a trained model is asked on the held-out split.

    `percents` of each window are hidden in turn, `curve_percent` of them during training. `windows`
    are filled in token by token. `seed` draws the hidden places and the random order.
    """

    percents: Annotated[tuple[Percent, ...], Field(strict=False, min_length=1)]
    curve_percent: Percent
    windows: Annotated[int, Field(ge=1, le=65536)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]


@dataclass(frozen=True)
class MaskedPlan:
    """One complete, checked description of a stage that fills in hidden tokens."""

    share: tuple[float, float]
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
        further = {"precision": self.training.precision, "share": list(self.share)}
        return settings_digest(self.spec, self.budget.seedless(), self.asked, further)


def masked_plan(params: Mapping[str, Any], name: str) -> MaskedPlan:
    """The plan of the entry `masked.runs.<name>`. Raises ParameterError."""
    where = f"masked.runs.{name}"
    base, entry = mapping(params, "base"), mapping(params, where)
    own = [key for key in entry if key in Run.model_fields]
    run = check(Run, {key: entry[key] for key in own}, where)
    spec = resolve(base, {key: value for key, value in entry.items() if key not in own}, where)
    if spec.causal:
        raise ParameterError(f"{where}.causal: true hides what follows for good; allowed is false")
    training = check(TrainingSettings, section(params, "training"), "training")
    return MaskedPlan(
        share=run.share,
        asked=check(AskedSettings, section(params, "masked.asked"), "masked.asked"),
        spec=spec,
        budget=named_budget(params, run.budget, where).at(training.fraction),
        training=training,
        addresses=(
            "base",
            "masked.asked",
            where,
            f"budgets.{run.budget}",
            "training.fraction",
            "training.precision",
        ),
    )
