"""Check all of params.yaml before anything runs: a slip is found in a second, not in an hour."""

from collections.abc import Mapping
from typing import Any

from remeasure.errors import ParameterError
from remeasure.params.ablations import variant_plan
from remeasure.params.benchmarks import benchmark_settings
from remeasure.params.corpus import CorpusSettings, SplitSettings, TokenizerSettings
from remeasure.params.families import TRAININGS
from remeasure.params.probes import probe_settings
from remeasure.params.reading import Settings, check, check_name, mapping, section
from remeasure.params.recurrent import sequence_cost_plan
from remeasure.params.sample import SampleSettings
from remeasure.params.training import Budget, TrainingSettings

SECTIONS: dict[str, type[Settings]] = {
    "corpus": CorpusSettings,
    "tokenizer": TokenizerSettings,
    "split": SplitSettings,
    "training": TrainingSettings,
    "sample": SampleSettings,
}
OTHERS = (
    *("budgets", "base", "model", "probes", "benchmarks"),
    *(family.entries.partition(".")[0] for family in TRAININGS),
)
"""Sections whose entries are checked one by one."""


def check_all(params: Mapping[str, Any]) -> None:
    """Raises ParameterError for the first thing in params.yaml that cannot be used."""
    known = (*SECTIONS, *OTHERS)
    for key in params:
        if key not in known:
            raise ParameterError(f"{key}: unknown section; known are: {', '.join(known)}")
    for name, settings in SECTIONS.items():
        check(settings, section(params, name), name)
    for name in _names(params, "budgets"):
        check(Budget, section(params, f"budgets.{name}"), f"budgets.{name}")
    variant_plan(params)
    for name in _names(params, "probes"):
        probe_settings(params, name)
    for name in _names(params, "benchmarks"):
        benchmark_settings(params, name)
    for family in TRAININGS:
        for name in _names(params, family.entries):
            family.plan(params, name)
    sequence_cost_plan(params)


def _names(params: Mapping[str, Any], address: str) -> list[str]:
    return [check_name(name, address) for name in mapping(params, address)]
