"""The fused output layer and loss against torch's own, in value and gradient."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from remeasure.ops import loss as loss_module
from remeasure.ops.loss import linear_cross_entropy, summed_cross_entropy

Case = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None, torch.Tensor]


def case(rows: int, width: int, vocabulary: int, bias: bool, dtype: torch.dtype) -> Case:
    """Inputs drawn for one size."""
    generator = torch.Generator().manual_seed(rows * 1000 + vocabulary)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()

    targets = torch.randint(vocabulary, (rows,), generator=generator)
    return draw(rows, width), draw(vocabulary, width), draw(vocabulary) if bias else None, targets


@given(
    rows=st.integers(1, 40),
    vocabulary=st.integers(1, 30),
    bias=st.booleans(),
    block=st.integers(1, 200),
)
@settings(max_examples=40, deadline=None)
def test_equals_torch_in_float64_whatever_the_blocks(
    rows: int, vocabulary: int, bias: bool, block: int
) -> None:
    inputs = case(rows, 5, vocabulary, bias, torch.float64)
    before = loss_module.BLOCK_ELEMENTS
    loss_module.BLOCK_ELEMENTS = {"cpu": block}
    try:
        ours = linear_cross_entropy(*inputs)
        ours_gradients = torch.autograd.grad(ours, [x for x in inputs[:3] if x is not None])
    finally:
        loss_module.BLOCK_ELEMENTS = before
    theirs = F.cross_entropy(F.linear(*inputs[:3]), inputs[3])
    their_gradients = torch.autograd.grad(theirs, [x for x in inputs[:3] if x is not None])
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(ours_gradients, their_gradients)


def test_gradcheck() -> None:
    x, weight, bias, targets = case(7, 4, 6, True, torch.float64)
    assert torch.autograd.gradcheck(
        lambda x, w, b: linear_cross_entropy(x, w, b, targets) * 3, (x, weight, bias)
    )


def test_equals_torch_within_rounding_in_float32() -> None:
    inputs = case(500, 32, 300, True, torch.float32)
    theirs = F.cross_entropy(F.linear(*inputs[:3]), inputs[3])
    torch.testing.assert_close(linear_cross_entropy(*inputs), theirs, rtol=1e-6, atol=0)


def test_summed_loss_is_the_mean_times_the_rows() -> None:
    inputs = case(37, 4, 6, True, torch.float64)
    total = summed_cross_entropy(*inputs)
    assert total.item() == pytest.approx(37 * linear_cross_entropy(*inputs).item(), rel=1e-12)


def test_large_logits_do_not_overflow() -> None:
    x = torch.tensor([[1000.0, -1000.0]])
    assert linear_cross_entropy(x, torch.eye(2), None, torch.tensor([1])).item() == 2000.0


def test_a_target_outside_the_vocabulary_is_refused() -> None:
    x, weight, bias, _ = case(3, 4, 6, True, torch.float32)
    with pytest.raises((IndexError, RuntimeError)):
        linear_cross_entropy(x, weight, bias, torch.tensor([0, 6, 1]))
