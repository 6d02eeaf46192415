"""Every pair of values of two fields of ModelSpec meets in a model that is built and stepped.

For each mixer by itself, since the fields of attention say nothing without it. A covering array
takes far fewer models than all combinations; nearly all known faults need few values to meet
(Kuhn, Wallace and Gallo 2004).
"""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any, get_args

import pytest
import torch

from remeasure.errors import ParameterError
from remeasure.models.build import build
from remeasure.params.ablations import resolve
from remeasure.params.model import ModelSpec

VOCAB, CONTEXT = 11, 6
MIXERS = ("none", "uniform", "attention")
LINKED: dict[str, tuple[Any, ...]] = {
    "pos": ("none", "learned", "sinusoidal", "rope", "alibi"),
    "n_positions": (None, 9, 4),
    "n_heads": (1, 2, 3),
    "d_head": (None, 4, 5),
    "output_projection": (True, False),
    "d_model": (8, 9),
}
"""Fields whose values exclude each other here and there."""
FREE: dict[str, tuple[Any, ...]] = {
    "norm": ("none", "pre", "post"),
    "ffn": ("none", "gelu"),
    "ffn_multiple": (1, 4),
    "n_blocks": (1, 2),
    "dropout": (0.0, 0.2),
    **{
        name: (True, False)
        for name in ("residual", "causal", "scale", "qkv_bias", "tie_embeddings", "output_bias")
    },
}
"""Fields that go with anything."""
CHOICES = LINKED | FREE
Pair = frozenset[tuple[str, Any]]


def pairs_in(choice: Mapping[str, Any]) -> set[Pair]:
    """The pairs of values that meet in a choice."""
    return {frozenset(pair) for pair in combinations(choice.items(), 2)}


def all_pairs() -> set[Pair]:
    """Every pair of values of two different fields."""
    return {
        frozenset(((one, a), (other, b)))
        for one, other in combinations(CHOICES, 2)
        for a, b in product(CHOICES[one], CHOICES[other])
    }


def specs(base: Mapping[str, Any], mixer: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every choice of the linked fields, and whether it makes a model."""
    for values in product(*LINKED.values()):
        choice = dict(zip(LINKED, values, strict=True))
        try:
            resolve(base, {**choice, "mixer": mixer, "context": CONTEXT}, "pairs")
        except ParameterError:
            yield choice, False
        else:
            yield choice, True


def covering(base: Mapping[str, Any], mixer: str) -> tuple[list[ModelSpec], set[Pair]]:
    """Models, greedily chosen, in which every pair that can meet does; and pairs that cannot."""
    linked = [choice for choice, allowed in specs(base, mixer) if allowed]
    missing = all_pairs()
    models: list[ModelSpec] = []
    while linked:
        choice = max(linked, key=lambda each: len(pairs_in(each) & missing))
        for name, values in FREE.items():
            tried = [{**choice, name: value} for value in values]
            choice = max(tried, key=lambda each: len(pairs_in(each) & missing))
        if not pairs_in(choice) & missing:
            choice = aimed(linked, missing)
            if not choice:
                break
        missing -= pairs_in(choice)
        models.append(resolve(base, {**choice, "mixer": mixer, "context": CONTEXT}, "pairs"))
    return models, missing


def aimed(linked: list[dict[str, Any]], missing: set[Pair]) -> dict[str, Any]:
    """A choice with one of the missing pairs, where greed finds none; empty if there is none."""
    for pair in sorted(missing, key=repr):
        wanted = dict(pair)
        fitting = (c for c in linked if all(c[k] == v for k, v in wanted.items() if k in c))
        found = next(fitting, None)
        if found is not None:
            return {**found, **{name: values[0] for name, values in FREE.items()}, **wanted}
    return {}


def pair(**values: Any) -> Pair:
    """A pair by its fields' names."""
    return frozenset(values.items())


def refused(mixer: str) -> set[Pair]:
    """Pairs that make no model, as ModelSpec's messages have it."""
    found = {pair(pos="sinusoidal", d_model=9), pair(pos="learned", n_positions=4)}
    if mixer == "attention":
        return found | {pair(pos="rope", d_head=5), pair(output_projection=False, d_head=5)}
    on_scores = {("pos", "rope"), ("pos", "alibi")}
    return found | {each for each in all_pairs() if each & on_scores}


def test_every_choice_of_the_parameters_is_tried() -> None:
    for name, field in ModelSpec.model_fields.items():
        if get_args(field.annotation) and isinstance(get_args(field.annotation)[0], str):
            tried = MIXERS if name == "mixer" else CHOICES[name]
            assert set(tried) == set(get_args(field.annotation))
    assert {*CHOICES, "mixer", "context"} == set(ModelSpec.model_fields)


@pytest.mark.parametrize("mixer", MIXERS)
def test_every_pair_that_can_meet_makes_a_model_that_learns(
    params: dict[str, Any], mixer: str
) -> None:
    models, never = covering(params["base"], mixer)
    assert never == refused(mixer)
    for spec in models:
        check_step(spec)


def check_step(spec: ModelSpec) -> None:
    """One step down its gradient, which reaches every parameter, makes the loss of a model less."""
    torch.manual_seed(0)
    model = build(spec, VOCAB).double()
    ids_BT = torch.randint(VOCAB, (4, CONTEXT + 1))
    inputs, targets = ids_BT[:, :-1], ids_BT[:, 1:]
    loss = model.train().loss(inputs, targets)
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, (name, spec)
        assert parameter.grad.isfinite().all(), (name, spec)
        assert parameter.grad.any(), (name, spec)
    if spec.pos == "learned":
        assert not model.positions.table.weight.grad[CONTEXT:].any()
    before = model.eval().loss(inputs, targets)
    model.zero_grad()
    before.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 1e-3 * parameter.grad
    after = model.loss(inputs, targets)
    assert loss.isfinite(), spec
    assert after < before, spec
