"""Check all of params.yaml before anything runs: a slip is found in a second, not in an hour."""

from collections.abc import Mapping
from typing import Any

from remeasure.errors import ParameterError
from remeasure.params.ablations import ablation_plan, variant_plan
from remeasure.params.corpus import CorpusSettings, SplitSettings, TokenizerSettings
from remeasure.params.reading import Settings, check, section
from remeasure.params.sample import SampleSettings
from remeasure.params.training import Budget, TrainingSettings

SECTIONS: dict[str, type[Settings]] = {
    "corpus": CorpusSettings,
    "tokenizer": TokenizerSettings,
    "split": SplitSettings,
    "training": TrainingSettings,
    "sample": SampleSettings,
}
OTHERS = ("budgets", "base", "model", "ablations")


def check_all(params: Mapping[str, Any]) -> None:
    """Raises ParameterError for the first thing in params.yaml that cannot be used."""
    for key in params:
        if key not in (*SECTIONS, *OTHERS):
            known = ", ".join((*SECTIONS, *OTHERS))
            raise ParameterError(f"{key}: unknown section; known are: {known}")
    for name, settings in SECTIONS.items():
        check(settings, section(params, name), name)
    for name in mapping(params, "budgets"):
        check(Budget, section(params, f"budgets.{name}"), f"budgets.{name}")
    variant_plan(params)
    for name in mapping(params, "ablations"):
        ablation_plan(params, name)


def mapping(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section that is a mapping of named entries. Raises ParameterError otherwise."""
    value = section(params, name)
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name}: {value!r} is no mapping of named entries")
    return value
