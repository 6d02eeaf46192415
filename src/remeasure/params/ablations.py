"""An ablation is data: a budget and the few keys in which it differs from `base`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from remeasure.errors import ParameterError
from remeasure.params.digest import settings_digest
from remeasure.params.model import ModelSpec
from remeasure.params.reading import check, mapping, section
from remeasure.params.training import Budget, TrainingSettings


@dataclass(frozen=True)
class TrainingPlan:
    """One complete, checked description of a stage that trains."""

    spec: ModelSpec
    budget: Budget
    """Already scaled by `training.fraction`."""
    also_evaluated: ModelSpec | None
    """If there is one, the trained weights are evaluated once more in a model so described."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        also = None if self.also_evaluated is None else self.also_evaluated.model_dump(mode="json")
        further = {"precision": self.training.precision, "also_evaluated": also}
        return settings_digest(self.spec, self.budget.seedless(), further)


def resolve(base: Mapping[str, Any], override: Mapping[str, Any], where: str) -> ModelSpec:
    """`base` with the keys of `override` replaced, checked. Raises ParameterError."""
    unknown = sorted(set(map(str, override)) - set(ModelSpec.model_fields))
    if unknown:
        known = ", ".join(ModelSpec.model_fields)
        raise ParameterError(f"{where}.{unknown[0]}: unknown key; known are: {known}")
    return check(ModelSpec, {**base, **override}, where)


def ablation_plan(params: Mapping[str, Any], name: str) -> TrainingPlan:
    """The plan of the entry `ablations.<name>`. Raises ParameterError."""
    where = f"ablations.{name}"
    base, entry = mapping(params, "base"), mapping(params, where)
    keys = {key: value for key, value in entry.items() if key not in ("budget", "evaluate_with")}
    spec = resolve(base, keys, where)
    also_spec = None
    if entry.get("evaluate_with") is not None:
        other = f"{where}.evaluate_with"
        also_spec = resolve(spec.model_dump(), mapping(params, other), other)
    return _plan(params, spec, entry.get("budget"), where, also_spec, ("base", where))


def variant_plan(params: Mapping[str, Any]) -> TrainingPlan:
    """The plan of the reader's own variant: section `model`. Raises ParameterError."""
    model = mapping(params, "model")
    keys = {key: value for key, value in model.items() if key != "budget"}
    return _plan(
        params, check(ModelSpec, keys, "model"), model.get("budget"), "model", None, ("model",)
    )


def _plan(
    params: Mapping[str, Any],
    spec: ModelSpec,
    budget_name: Any,
    where: str,
    also_evaluated: ModelSpec | None,
    read: tuple[str, ...],
) -> TrainingPlan:
    budgets = mapping(params, "budgets")
    if not isinstance(budget_name, str) or budget_name not in budgets:
        raise ParameterError(
            f"{where}.budget: {budget_name!r} is not one of {', '.join(map(str, budgets))}"
        )
    training = check(TrainingSettings, section(params, "training"), "training")
    budget = check(Budget, budgets[budget_name], f"budgets.{budget_name}").at(training.fraction)
    budget.windows(spec)
    addresses = (*read, f"budgets.{budget_name}", "training.fraction", "training.precision")
    return TrainingPlan(spec, budget, also_evaluated, training, addresses)
