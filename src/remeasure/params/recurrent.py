"""Recurrent state beside attention: what is trained, what is measured, and what is timed."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from remeasure.errors import ParameterError
from remeasure.params.ablations import resolve
from remeasure.params.benchmarks import Device, Seed
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec, Width
from remeasure.params.named_budget import named_budget
from remeasure.params.reading import Settings, check, mapping, section
from remeasure.params.training import Budget, TrainingSettings

SHARED = ("d_model", "context")
"""What a recurrent model has from `base`."""


class RecurrentSpec(Settings):
    """A recurrent language model: embedding of width `d_model`, one cell, output layer."""

    cell: Literal["rnn", "lstm"]
    d_model: Width
    d_hidden: Width
    context: Width


Spec = RecurrentSpec | ModelSpec
"""A run either names a cell, or says how it differs from `base`."""


class GradientSettings(Settings):
    """On how many held-out windows gradients are measured, and which distance counts as far."""

    windows: Annotated[int, Field(ge=1, le=65536)]
    far: Annotated[int, Field(ge=2, le=65535)]


class SequenceCostSettings(Settings):
    """Training steps on windows of growing length, each twice as long as the one before it.

    Every batch has `tokens_per_batch` tokens. A length is timed `repeats` times, or until `seconds`
    are spent, but at least three times.
    """

    lengths: Annotated[tuple[Width, ...], Field(strict=False, min_length=2)]
    tokens_per_batch: Annotated[int, Field(ge=1, le=2**24)]
    vocab_size: Width
    repeats: Annotated[int, Field(ge=3, le=10_000)]
    seconds: Annotated[float, Field(ge=0, le=3600)]
    device: Device
    seed: Seed

    @model_validator(mode="after")
    def _lengths_double_and_fill_the_batch(self) -> "SequenceCostSettings":
        for shorter, longer in pairwise(self.lengths):
            if longer != 2 * shorter:
                raise ValueError(
                    f"each length must be twice the one before it, and {longer} is not twice"
                    f" {shorter}"
                )
        if self.tokens_per_batch % self.lengths[-1]:
            raise ValueError(
                f"tokens_per_batch {self.tokens_per_batch} is no multiple of the longest length,"
                f" {self.lengths[-1]}"
            )
        return self


@dataclass(frozen=True)
class RecurrentPlan:
    """One complete, checked description of a stage that trains."""

    spec: Spec
    gradient: GradientSettings
    budget: Budget
    """Already scaled by `training.fraction`."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        further = {"precision": self.training.precision}
        return settings_digest(self.spec, self.budget.seedless(), self.gradient, further)


@dataclass(frozen=True)
class SequenceCostPlan:
    """What is timed: every run by its name, and how."""

    specs: Mapping[str, Spec]
    cost: SequenceCostSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what is measured."""
        specs = {name: spec.model_dump(mode="json") for name, spec in self.specs.items()}
        return settings_digest(self.cost, specs)


def recurrent_plan(params: Mapping[str, Any], name: str) -> RecurrentPlan:
    """The plan of the entry `recurrent.runs.<name>`. Raises ParameterError."""
    spec = _spec(params, name)
    gradient = check(GradientSettings, section(params, "recurrent.gradient"), "recurrent.gradient")
    if gradient.far >= spec.context:
        raise ParameterError(
            f"recurrent.gradient.far: {gradient.far} is not inside a window of {spec.context}"
            f" tokens; at most {spec.context - 1}"
        )
    chosen = str(section(params, "recurrent.budget"))
    training = check(TrainingSettings, section(params, "training"), "training")
    return RecurrentPlan(
        spec=spec,
        gradient=gradient,
        budget=named_budget(params, chosen, "recurrent").at(training.fraction),
        training=training,
        addresses=(
            "base",
            "recurrent.budget",
            "recurrent.gradient",
            f"recurrent.runs.{name}",
            f"budgets.{chosen}",
            "training.fraction",
            "training.precision",
        ),
    )


def sequence_cost_plan(params: Mapping[str, Any]) -> SequenceCostPlan:
    """The plan of `recurrent.sequence_cost`, for all runs. Raises ParameterError."""
    where = "recurrent.sequence_cost"
    return SequenceCostPlan(
        specs={name: _spec(params, name) for name in mapping(params, "recurrent.runs")},
        cost=check(SequenceCostSettings, section(params, where), where),
        addresses=("base", "recurrent.runs", where),
    )


def _spec(params: Mapping[str, Any], name: str) -> Spec:
    where = f"recurrent.runs.{name}"
    base, entry = mapping(params, "base"), mapping(params, where)
    if "cell" not in entry:
        spec = resolve(base, entry, where)
        if spec.mixer == "none":
            raise ParameterError(f"{where}.mixer: none lets no gradient reach another token")
        return spec
    shared = {key: base[key] for key in SHARED if key in base}
    return check(RecurrentSpec, {**shared, **entry}, where)
