"""The blocked feed-forward layer against torch's own, whatever the blocks."""

import pytest
import torch
from torch.nn import functional as F

from remeasure.ops import blocked_feed_forward as module
from remeasure.ops.blocked_feed_forward import blocked_feed_forward

SHAPES = ((7, 3), (5, 3), (5,), (3, 5), (3,))
"""Of x, the first layer's weight and bias, the second's: N 7, D 3, F 5."""


def inputs() -> tuple[torch.Tensor, ...]:
    """In float64, all of them wanting gradients."""
    generator = torch.Generator().manual_seed(0)
    return tuple(
        torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape in SHAPES
    )


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_equals_two_linear_layers(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_ELEMENTS", rows * 5)
    given = inputs()
    x, expand_weight, expand_bias, contract_weight, contract_bias = given
    theirs = F.linear(
        F.gelu(F.linear(x, expand_weight, expand_bias)), contract_weight, contract_bias
    )
    ours = blocked_feed_forward(*given)
    torch.testing.assert_close(ours, theirs)
    above = torch.randn_like(ours)
    for ours_grad, their_grad in zip(
        torch.autograd.grad(ours, given, above), torch.autograd.grad(theirs, given, above),
        strict=True,
    ):  # fmt: skip
        torch.testing.assert_close(ours_grad, their_grad)


def test_gradient_is_that_of_differences() -> None:
    assert torch.autograd.gradcheck(blocked_feed_forward, inputs())
