"""Check all of params.yaml before anything runs: a slip is found in a second, not in an hour."""

from collections.abc import Mapping
from typing import Any

from remeasure.errors import ParameterError
from remeasure.params.ablations import ablation_plan, variant_plan
from remeasure.params.benchmarks import benchmark_settings
from remeasure.params.corpus import CorpusSettings, SplitSettings, TokenizerSettings
from remeasure.params.probes import probe_settings
from remeasure.params.reading import Settings, check, check_name, mapping, section
from remeasure.params.referent import referent_plan
from remeasure.params.sample import SampleSettings
from remeasure.params.seq2seq import seq2seq_plan
from remeasure.params.training import Budget, TrainingSettings

SECTIONS: dict[str, type[Settings]] = {
    "corpus": CorpusSettings,
    "tokenizer": TokenizerSettings,
    "split": SplitSettings,
    "training": TrainingSettings,
    "sample": SampleSettings,
}
OTHERS = ("budgets", "base", "model", "ablations", "probes", "benchmarks", "referent", "seq2seq")
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
    for name in _names(params, "ablations"):
        ablation_plan(params, name)
    for name in _names(params, "probes"):
        probe_settings(params, name)
    for name in _names(params, "benchmarks"):
        benchmark_settings(params, name)
    for name in _names(params, "referent.runs"):
        referent_plan(params, name)
    for name in _names(params, "seq2seq.runs"):
        seq2seq_plan(params, name)


def _names(params: Mapping[str, Any], address: str) -> list[str]:
    return [check_name(name, address) for name in mapping(params, address)]
