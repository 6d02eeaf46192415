"""The little languages' experiments: a task, a budget, and how the model differs from `base`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from remeasure.errors import ParameterError
from remeasure.params.ablations import resolve
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.reading import Settings, check, mapping, section
from remeasure.params.training import Budget, Steps, TrainingSettings


class LanguageSettings(Settings):
    """Which noun pairs are never trained on: a share of all ordered pairs, drawn with a seed.

    At most a half, so that the reverse of each can be trained on, and at least one in fifty, so
    that there is one.
    """

    held_out: Annotated[float, Field(ge=0.02, le=0.5)]
    split_seed: Annotated[int, Field(ge=0, lt=2**31)]


class Run(Settings):
    """Which of the two languages a model learns, for how many optimizer steps, at which rate."""

    task: Literal["category", "pool"]
    steps: Steps
    learning_rate: Annotated[float, Field(gt=0, le=100)]


@dataclass(frozen=True)
class ReferentPlan:
    """One complete, checked description of a referent stage."""

    task: str
    language: LanguageSettings
    spec: ModelSpec
    budget: Budget
    """Already scaled by `training.fraction`."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        further = {"precision": self.training.precision, "task": self.task}
        return settings_digest(self.spec, self.budget.seedless(), self.language, further)


def referent_plan(params: Mapping[str, Any], name: str) -> ReferentPlan:
    """The plan of the entry `referent.runs.<name>`. Raises ParameterError."""
    where = f"referent.runs.{name}"
    base, entry = mapping(params, "base"), mapping(params, where)
    own = [key for key in entry if key in Run.model_fields]
    run = check(Run, {key: entry[key] for key in own}, where)
    keys = {key: value for key, value in entry.items() if key not in own}
    training = check(TrainingSettings, section(params, "training"), "training")
    return ReferentPlan(
        task=run.task,
        language=check(LanguageSettings, section(params, "referent.language"), "referent.language"),
        spec=resolve(base, keys, where),
        budget=_budget(params, run).at(training.fraction),
        training=training,
        addresses=(
            "base",
            "referent.language",
            "referent.budget",
            where,
            "training.fraction",
            "training.precision",
        ),
    )


def _budget(params: Mapping[str, Any], run: Run) -> Budget:
    where = "referent.budget"
    shared = mapping(params, where)
    given_elsewhere = {
        "steps": run.steps,
        "learning_rate": run.learning_rate,
        "evaluated_at": [],
    }
    for key in given_elsewhere:
        if key in shared:
            raise ParameterError(
                f"{where}.{key}: unknown key; steps and learning_rate stand with each run, and all"
                " sentences are equally long"
            )
    return check(Budget, {**shared, **given_elsewhere}, where)
