"""Stages made short: fewer steps, all else as it was."""

import dataclasses
from typing import Any

import pytest

from remeasure.params.families import TRAININGS, Family
from remeasure.params.reading import section
from remeasure.pipeline.rerun import same_kind, shortened

MACHINE = {
    "machine": {"architecture": "x86_64", "processor": "A", "gpu": None},
    "threads": 1,
    "versions": {"torch": "2", "numpy": "2"},
}


@pytest.mark.parametrize("family", TRAININGS, ids=lambda family: family.stage)
@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_a_training_made_short_differs_in_its_steps_alone(
    params: dict[str, Any], family: Family, fraction: float
) -> None:
    params = {**params, "training": {**params["training"], "fraction": fraction}}
    for name in section(params, family.entries):
        whole: Any = family.plan(params, name)
        short: Any = family.plan(shortened(params, f"{family.stage}@{name}", 50), name)
        assert short.budget == whole.budget.model_copy(update={"steps": 50}), name
        for field in dataclasses.fields(whole):
            if field.name not in ("budget", "training"):
                assert getattr(short, field.name) == getattr(whole, field.name), name


@pytest.mark.parametrize("family", TRAININGS, ids=lambda family: family.stage)
def test_nothing_is_made_longer(params: dict[str, Any], family: Family) -> None:
    name = next(iter(section(params, family.entries)))
    longer = shortened(params, f"{family.stage}@{name}", 10**6)
    assert family.plan(longer, name).budget == family.plan(params, name).budget


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"threads": 2}, False),
        ({"threads": None}, False),
        ({"versions": {"torch": "3", "numpy": "2"}}, False),
        ({"machine": {"architecture": "x86_64", "processor": "B", "gpu": None}}, False),
        ({"machine": {"architecture": "x86_64", "processor": "A", "gpu": "C"}}, False),
    ],
)
def test_machines_of_a_kind(change: dict[str, Any], same: bool) -> None:
    assert same_kind(MACHINE, {**MACHINE, **change}) is same
    assert not same_kind({}, {})
