"""Check all of params.yaml before anything runs: a slip is found in a second, not in an hour."""

import re
from collections.abc import Mapping
from typing import Any

from remeasure.errors import ParameterError
from remeasure.ledger.pins import BENCHMARKS
from remeasure.params.ablations import ablation_plan, variant_plan
from remeasure.params.corpus import CorpusSettings, SplitSettings, TokenizerSettings
from remeasure.params.probes import probe_settings
from remeasure.params.reading import Settings, check, section
from remeasure.params.referent import referent_plan
from remeasure.params.sample import SampleSettings
from remeasure.params.training import Budget, TrainingSettings

SECTIONS: dict[str, type[Settings]] = {
    "corpus": CorpusSettings,
    "tokenizer": TokenizerSettings,
    "split": SplitSettings,
    "training": TrainingSettings,
    "sample": SampleSettings,
}
OTHERS = ("budgets", "base", "model", "ablations", "probes", "benchmarks", "referent")
"""Sections whose entries are checked one by one."""
NAME = re.compile("[a-z][a-z0-9_]*")
"""Names become parts of file names, commands and addresses."""


def check_all(params: Mapping[str, Any]) -> None:
    """Raises ParameterError for the first thing in params.yaml that cannot be used."""
    known = (*SECTIONS, *OTHERS)
    for key in params:
        if key not in known:
            raise ParameterError(f"{key}: unknown section; known are: {', '.join(known)}")
    for name, settings in SECTIONS.items():
        check(settings, section(params, name), name)
    for name in mapping(params, "budgets"):
        check(Budget, section(params, f"budgets.{name}"), f"budgets.{name}")
    variant_plan(params)
    for name in mapping(params, "ablations"):
        ablation_plan(params, name)
    for name in mapping(params, "probes"):
        probe_settings(params, name)
    for name in mapping(params, "benchmarks"):
        _check_benchmark(params, name)
    for name in mapping(params, "referent.runs"):
        referent_plan(params, name)


def _check_benchmark(params: Mapping[str, Any], name: str) -> None:
    where = f"benchmarks.{name}"
    if name not in BENCHMARKS:
        raise ParameterError(f"{where}: no such benchmark; there are: {', '.join(BENCHMARKS)}")
    check(BENCHMARKS[name], section(params, where), where)


def mapping(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A section that is a mapping of named entries. Raises ParameterError otherwise."""
    value = section(params, name)
    if not isinstance(value, Mapping):
        raise ParameterError(f"{name}: {value!r} is no mapping of named entries")
    for key in value:
        if not isinstance(key, str) or not NAME.fullmatch(key):
            raise ParameterError(
                f"{name}: {key!r} is no name; allowed are a-z, 0-9 and _, with a letter first"
            )
    return value
