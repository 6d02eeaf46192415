"""The settings pinned in claims.yaml and those in params.yaml."""

import copy
from pathlib import Path
from typing import Any

import pytest

from remeasure.ledger.claims import Claims, read_claims
from remeasure.ledger.pins import current_settings, write_pins
from remeasure.params.families import TRAININGS
from remeasure.params.reading import read_params, section
from remeasure.records.files import read_json

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def params() -> dict[str, Any]:
    return read_params(ROOT / "params.yaml")


def test_pins_are_the_settings_of_params_yaml(claims: Claims, params: dict[str, Any]) -> None:
    pins = {file: pin for file, pin in claims.protocol.records.items() if pin.settings}
    current = {file: current_settings(params, file) for file in pins}
    assert current == {file: pin.settings for file, pin in pins.items()}


def test_pins_are_the_settings_that_records_carry(claims: Claims) -> None:
    for file, pin in claims.protocol.records.items():
        if pin.settings and (ROOT / file).exists():
            found = read_json(ROOT / file)["protocol"]
            assert found["settings"] == pin.settings, file
            assert (found["corpus"] is not None) == (pin.text is not None), file


def test_every_experiment_in_params_yaml_is_pinned(claims: Claims, params: dict[str, Any]) -> None:
    families = {
        "probes": params["probes"],
        "benchmarks": params["benchmarks"],
        "sequence_cost": ["sequence_cost"],
        **{family.folder: section(params, family.entries) for family in TRAININGS},
    }
    for family, entries in families.items():
        for name in entries:
            assert f"metrics/{family}/{name}.json" in claims.protocol.records


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [("base", "d_model", 64), ("base", "dropout", 0.1), ("budgets", "standard", "shorter")],
)
def test_a_changed_experiment_has_other_settings(
    params: dict[str, Any], section: str, key: str, value: Any
) -> None:
    changed = copy.deepcopy(params)
    if value == "shorter":
        changed[section][key]["steps"] -= 1
    else:
        changed[section][key] = value
    file = "metrics/ablations/one_block.json"
    assert current_settings(changed, file) != current_settings(params, file)


def test_seeds_device_and_fraction_are_no_settings(params: dict[str, Any]) -> None:
    changed = copy.deepcopy(params)
    changed["budgets"]["standard"]["seeds"] = [7, 8]
    changed["training"] |= {"fraction": 0.05, "device": "cpu"}
    file = "metrics/ablations/one_block.json"
    assert current_settings(changed, file) == current_settings(params, file)


def test_pin_rewrites_the_digests_and_nothing_else(tmp_path: Path, params: dict[str, Any]) -> None:
    path = tmp_path / "claims.yaml"
    text = (ROOT / "claims.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert write_pins(params, path) == []
    assert path.read_text(encoding="utf-8") == text
    changed = copy.deepcopy(params)
    changed["ablations"]["one_block"] = {"budget": "standard", "n_heads": 2}
    lines = write_pins(changed, path)
    assert len(lines) == 1
    assert lines[0].startswith("metrics/ablations/one_block.json: settings ")
    old, new = text.splitlines(), path.read_text(encoding="utf-8").splitlines()
    differing = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(differing) == 1
    pin = read_claims(path).protocol.records["metrics/ablations/one_block.json"]
    assert pin.settings == current_settings(changed, "metrics/ablations/one_block.json")


def test_an_experiment_that_is_gone_is_named(tmp_path: Path, params: dict[str, Any]) -> None:
    changed = copy.deepcopy(params)
    del changed["ablations"]["one_block"]
    path = tmp_path / "claims.yaml"
    text = (ROOT / "claims.yaml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert write_pins(changed, path) == [
        "metrics/ablations/one_block.json: ablations.one_block is not in params.yaml; its pin stays"
    ]
    assert path.read_text(encoding="utf-8") == text
