"""`pin`: the settings of the chapter's experiments, as params.yaml has them, into claims.yaml.

A record carries the digest of the settings that it was measured with. Pinning them makes a change
of an experiment a line in a diff of claims.yaml, and a record of anything else not count.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from remeasure import paths
from remeasure.errors import ParameterError
from remeasure.ledger.claims import Pin, read_claims
from remeasure.params.benchmarks import benchmark_settings
from remeasure.params.digest import settings_digest
from remeasure.params.families import TRAININGS, Family
from remeasure.params.probes import probe_settings
from remeasure.params.reading import section
from remeasure.params.recurrent import sequence_cost_plan
from remeasure.records.files import write_text


def current_settings(params: Mapping[str, Any], file: str) -> str:
    """The digest that a record `metrics/<family>/<name>.json` measured now would carry.

    The whole budget is meant, whatever `training.fraction` says. Raises ParameterError if
    params.yaml does not describe it.
    """
    _, family, name = Path(file).with_suffix("").parts
    training = {**section(params, "training"), "fraction": 1.0}
    return DIGESTS[family]({**params, "training": training}, name)


def write_pins(params: Mapping[str, Any], path: Path = paths.CLAIMS) -> list[str]:
    """Bring the pinned settings in claims.yaml up to date.

    Returns a line about each that changed, and about each that params.yaml no longer describes:
    its pin stays. Raises ParameterError for parameters that cannot be used.
    """
    pins = read_claims(path).protocol.records
    before = text = path.read_text(encoding="utf-8")
    lines = []
    for file, pin in pins.items():
        if pin.settings is None:
            continue
        if not _described(params, pin.entry):
            lines.append(f"{file}: {pin.entry} is not in {paths.PARAMS}; its pin stays")
            continue
        settings = current_settings(params, file)
        if settings != pin.settings:
            text = _replaced(text, file, pin, settings, path)
            lines.append(f"{file}: settings {pin.settings} -> {settings}")
    if text != before:
        write_text(path, text)
    return lines


def _described(params: Mapping[str, Any], entry: str) -> bool:
    try:
        section(params, entry)
    except ParameterError:
        return False
    return True


def _replaced(text: str, file: str, pin: Pin, settings: str, path: Path) -> str:
    """Only the digest changes, so that comments and layout stay."""
    line = re.compile(rf"^(\s+{re.escape(file)}: .*\bsettings: \"?){pin.settings}\b", re.MULTILINE)
    text, found = line.subn(rf"\g<1>{settings}", text)
    if found != 1:
        raise ParameterError(f"{path}: the pin of {file} must stand on one line, settings included")
    return text


def _training_digest(family: Family, params: Mapping[str, Any], name: str) -> str:
    return family.plan(params, name).settings


DIGESTS: Mapping[str, Callable[[Mapping[str, Any], str], str]] = {
    "probes": lambda params, name: settings_digest(probe_settings(params, name)),
    "benchmarks": lambda params, name: settings_digest(benchmark_settings(params, name)),
    "sequence_cost": lambda params, name: sequence_cost_plan(params).settings,
    **{family.folder: partial(_training_digest, family) for family in TRAININGS},
}
"""What the measuring code writes into its records, from params.yaml alone."""
