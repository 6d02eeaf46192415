"""Induction heads: the sequences, a budget, and how each model differs from `base`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from remeasure.errors import ParameterError
from remeasure.params.ablations import resolve
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.reading import Settings, check, mapping, section
from remeasure.params.training import Budget, TrainingSettings

Period = Annotated[int, Field(ge=2, le=65536)]


class SequencesSettings(Settings):
    """How many tokens there are, and how many sequences, drawn with a seed, are evaluated."""

    vocab_size: Annotated[int, Field(ge=2, le=65536)]
    held_out: Annotated[int, Field(ge=1, le=65536)]
    held_out_seed: Annotated[int, Field(ge=0, lt=2**31)]


class Run(Settings):
    """The shortest and the longest period with which a sequence repeats itself, in tokens."""

    periods: Annotated[tuple[Period, Period], Field(strict=False)]


@dataclass(frozen=True)
class InductionPlan:
    """One complete, checked description of an induction stage."""

    sequences: SequencesSettings
    periods: tuple[int, int]
    spec: ModelSpec
    budget: Budget
    """Already scaled by `training.fraction`."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        further = {"precision": self.training.precision, "periods": list(self.periods)}
        return settings_digest(self.spec, self.budget.seedless(), self.sequences, further)


def induction_plan(params: Mapping[str, Any], name: str) -> InductionPlan:
    """The plan of the entry `induction.runs.<name>`. Raises ParameterError."""
    where = f"induction.runs.{name}"
    base, entry = mapping(params, "base"), mapping(params, where)
    own = [key for key in entry if key in Run.model_fields]
    periods = check(Run, {key: entry[key] for key in own}, where).periods
    spec = resolve(base, {key: entry[key] for key in entry if key not in own}, where)
    if spec.mixer != "attention":
        raise ParameterError(f"{where}.mixer: {spec.mixer} has no heads; allowed is attention")
    _check_periods(periods, spec.context, where)
    training = check(TrainingSettings, section(params, "training"), "training")
    sequences = section(params, "induction.sequences")
    return InductionPlan(
        sequences=check(SequencesSettings, sequences, "induction.sequences"),
        periods=periods,
        spec=spec,
        budget=_budget(params).at(training.fraction),
        training=training,
        addresses=(
            "base",
            "induction.sequences",
            "induction.budget",
            where,
            "training.fraction",
            "training.precision",
        ),
    )


def _check_periods(periods: tuple[int, int], context: int, where: str) -> None:
    shortest, longest = periods
    if not shortest <= longest < context:
        raise ParameterError(
            f"{where}.periods: [{shortest}, {longest}] is not allowed: the first is the shorter,"
            f" and the second less than the context of {context}, so that every window repeats"
        )


def _budget(params: Mapping[str, Any]) -> Budget:
    where = "induction.budget"
    shared = mapping(params, where)
    if "evaluated_at" in shared:
        raise ParameterError(f"{where}.evaluated_at: unknown key; all sequences are equally long")
    return check(Budget, {**shared, "evaluated_at": []}, where)
