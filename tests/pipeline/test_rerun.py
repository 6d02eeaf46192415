"""Stages made short: fewer steps, all else as it was."""

from typing import Any

import pytest

from remeasure.params.ablations import ablation_plan
from remeasure.params.referent import referent_plan
from remeasure.params.seq2seq import seq2seq_plan
from remeasure.pipeline.rerun import same_kind, shortened

MACHINE = {
    "machine": {"architecture": "x86_64", "processor": "A", "gpu": None},
    "threads": 1,
    "versions": {"torch": "2", "numpy": "2"},
}


@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_an_ablation_made_short_differs_in_its_steps_alone(
    params: dict[str, Any], fraction: float
) -> None:
    params = {**params, "training": {**params["training"], "fraction": fraction}}
    whole = ablation_plan(params, "norm_pre_warmup")
    short = ablation_plan(shortened(params, "ablation@norm_pre_warmup", 50), "norm_pre_warmup")
    assert short.budget == whole.budget.model_copy(update={"steps": 50})
    assert (short.spec, short.also_evaluated) == (whole.spec, whole.also_evaluated)


def test_a_referent_made_short_differs_in_its_steps_alone(params: dict[str, Any]) -> None:
    whole = referent_plan(params, "pool_two_blocks")
    short = referent_plan(shortened(params, "referent@pool_two_blocks", 50), "pool_two_blocks")
    assert short.budget == whole.budget.model_copy(update={"steps": 50})
    assert (short.spec, short.language, short.task) == (whole.spec, whole.language, whole.task)


def test_a_translator_made_short_differs_in_its_steps_alone(params: dict[str, Any]) -> None:
    whole = seq2seq_plan(params, "sort_bahdanau")
    short = seq2seq_plan(shortened(params, "seq2seq@sort_bahdanau", 50), "sort_bahdanau")
    assert short.budget == whole.budget.model_copy(update={"steps": 50})
    assert (short.sizes, short.strings, short.task) == (whole.sizes, whole.strings, whole.task)


def test_nothing_is_made_longer(params: dict[str, Any]) -> None:
    whole = ablation_plan(params, "one_block")
    assert ablation_plan(shortened(params, "ablation@one_block", 10**6), "one_block").budget == (
        whole.budget
    )


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
