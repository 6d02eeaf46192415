"""The benchmark times what it says: the same function, counted arithmetic, no made-up rows.

Shapes: B batch, T tokens.
"""

from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from remeasure.models import parts
from remeasure.models.build import build
from remeasure.params.ablations import ablation_plan, resolve
from remeasure.speed.flops import flops_per_token
from remeasure.speed.plain import PlainModel, train_plainly
from remeasure.speed.runs import matmul_run, plain_run, project_run

TINY = {"d_model": 16, "context": 12}
VOCABULARY = 17


def feed_forward(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
    """What the blocked form computes, written plainly."""
    return F.linear(F.gelu(F.linear(x, *weights[:2])), *weights[2:])


def with_weights_of(plain: PlainModel, ours: Any) -> None:
    """Copy our weights into the plain model, piece by piece."""
    plain.embedding.load_state_dict(ours.embedding.state_dict())
    plain.output.load_state_dict(ours.output.state_dict())
    if plain.positions is None:
        return
    plain.positions.load_state_dict(ours.positions.table.state_dict())
    plain.norm.load_state_dict(ours.final_norm.state_dict())
    for theirs, block in zip(plain.blocks, ours.blocks, strict=True):
        attention, feed_forward = block.sublayers
        query, key, value = attention.inner.query_key_value.weight.data.chunk(3)
        theirs.attention.query.weight.data.copy_(query)
        theirs.attention.key.weight.data.copy_(key)
        theirs.attention.value.weight.data.copy_(value)
        theirs.attention.output.load_state_dict(attention.inner.output.state_dict())
        theirs.attention_norm.load_state_dict(attention.norm_before.state_dict())
        theirs.feed_forward_norm.load_state_dict(feed_forward.norm_before.state_dict())
        theirs.feed_forward[0].load_state_dict(feed_forward.inner.expand.state_dict())
        theirs.feed_forward[2].load_state_dict(feed_forward.inner.contract.state_dict())


@pytest.mark.parametrize("name", ["no_context", "one_block", "two_blocks"])
def test_the_plain_model_is_the_same_function(params: dict[str, Any], name: str) -> None:
    # As long as the chapter's windows, so that the blocked forms are taken.
    long = {"d_model": 16, "context": 128}
    spec = resolve(ablation_plan(params, name).spec.model_dump(), long, "test")
    ours, plain = build(spec, VOCABULARY).double(), PlainModel(spec, VOCABULARY).double()
    with_weights_of(plain, ours)
    ids_BT, next_BT = torch.randint(VOCABULARY, (2, 3, spec.context))
    losses = (
        ours.loss(ids_BT, next_BT),
        F.cross_entropy(plain(ids_BT).flatten(0, 1), next_BT.flatten()),
    )
    torch.testing.assert_close(*losses)
    for loss in losses:
        loss.backward()
    torch.testing.assert_close(plain.embedding.weight.grad, ours.embedding.weight.grad)


def test_what_has_no_plain_model_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no plain model"):
        PlainModel(ablation_plan(params, "norm_post").spec, VOCABULARY)


@pytest.mark.parametrize("name", ["no_context", "uniform", "one_block", "head", "two_blocks"])
def test_arithmetic_is_what_torch_counts(
    params: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The counter does not see products that are written into room made for them.
    monkeypatch.setattr(parts, "blocked_feed_forward", feed_forward)
    spec = resolve(ablation_plan(params, name).spec.model_dump(), {**TINY, "dropout": 0.1}, "test")
    model = build(spec, VOCABULARY)
    ids_BT, next_BT = torch.randint(VOCABULARY, (2, 3, spec.context))
    with FlopCounterMode(display=False) as counter:
        F.cross_entropy(model(ids_BT).flatten(0, 1), next_BT.flatten()).backward()
    # Nothing asks for the gradient of the embedding's input: the averaging matrix is fixed, so the
    # product with its transpose is all that its backward pass holds.
    fixed = 2 * spec.n_blocks * spec.context * spec.d_model if spec.mixer == "uniform" else 0
    expected = flops_per_token(spec, VOCABULARY) - fixed
    assert counter.get_total_flops() == ids_BT.numel() * expected


def test_each_run_counts_the_steps_it_was_asked_for(
    params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {**params, "base": {**params["base"], **TINY}}
    for run in (plain_run, project_run):
        timing = run(small, "one_block", 1, 2)
        assert 0 < timing.step_seconds < 5
        assert timing.peak_bytes > 2**20
    monkeypatch.setattr("remeasure.speed.runs.MATMUL_SECONDS", 0.01)
    monkeypatch.setattr("remeasure.speed.runs.MATMUL_SIZE", 64)
    assert matmul_run(1) > 1e6


def test_the_plain_loop_learns(params: dict[str, Any]) -> None:
    torch.manual_seed(0)
    spec = resolve(ablation_plan(params, "one_block").spec.model_dump(), TINY, "test")
    model = PlainModel(spec, VOCABULARY)
    ids_N = torch.arange(VOCABULARY).repeat(20)
    assert len(train_plainly(model, ids_N, spec.context, 16, 200)) == 200
    logits_BTV = model(ids_N[None, :12])
    assert F.cross_entropy(logits_BTV.flatten(0, 1), ids_N[1:13]) < 1.0
