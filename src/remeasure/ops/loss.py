"""Output layer and cross-entropy in one, in blocks of rows that stay in the processor's cache.

The logits of a batch, [8192, 1024] at the chapter's budget, leave every cache, and autograd would
keep them for the way back. Here each block of rows makes its logits, its loss and its gradients at
once; only the gradients outlive the block. Mean cross-entropy is the last thing a language model
computes, so the gradient that arrives from above is a single factor, applied at the end.

Shapes: N rows (tokens), D width, V vocabulary, R rows of one block.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK_ELEMENTS = {"cpu": 128 * 1024}
"""Logits a block, by device. On a CPU half a megabyte in float32, which fits the second-level
cache: the fastest of those measured."""
OTHER_BLOCK_ELEMENTS = 64 * 1024 * 1024
"""On an accelerator starting a kernel costs more than a cache saves: only memory sets a limit."""


def linear_cross_entropy(
    x_ND: Tensor, weight_VD: Tensor, bias_V: Tensor | None, target_N: Tensor
) -> Tensor:
    """Mean cross-entropy in nats of softmax(x W^T + b) against the targets: a scalar.

    Equal to `F.cross_entropy(F.linear(x, W, b), target)`; differentiable once in x, W and b.
    Raises IndexError if a target is no row of W.
    """
    loss: Tensor = _LinearCrossEntropy.apply(x_ND, weight_VD, bias_V, target_N)  # type: ignore[no-untyped-call]
    return loss


def summed_cross_entropy(
    x_ND: Tensor, weight_VD: Tensor, bias_V: Tensor | None, target_N: Tensor
) -> Tensor:
    """Sum over the rows of the same cross-entropy, without gradients: a scalar in float64."""
    total = torch.zeros((), dtype=torch.float64, device=x_ND.device)
    with torch.no_grad():
        for rows in _blocks(x_ND, len(weight_VD)):
            logits_RV = torch.nn.functional.linear(x_ND[rows], weight_VD, bias_V)
            picked_R = logits_RV.gather(1, target_N[rows, None])[:, 0]
            total += (logits_RV.logsumexp(1) - picked_R).sum(dtype=torch.float64)
    return total


def _blocks(x_ND: Tensor, vocabulary: int) -> list[slice]:
    n_rows = len(x_ND)
    rows = max(1, BLOCK_ELEMENTS.get(x_ND.device.type, OTHER_BLOCK_ELEMENTS) // vocabulary)
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


class _LinearCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x_ND: Tensor, weight_VD: Tensor, bias_V: Tensor | None, target_N: Tensor
    ) -> Tensor:
        n_rows = len(x_ND)
        total = torch.zeros((), dtype=torch.float64, device=x_ND.device)
        grad_x_ND = torch.empty_like(x_ND)
        grad_weight_VD = torch.zeros_like(weight_VD)
        grad_bias_V = None if bias_V is None else torch.zeros_like(bias_V)
        for rows in _blocks(x_ND, len(weight_VD)):
            x_RD, target_R1 = x_ND[rows], target_N[rows, None]
            logits_RV = torch.nn.functional.linear(x_RD, weight_VD, bias_V)
            picked_R1 = logits_RV.gather(1, target_R1)
            peak_R1 = logits_RV.amax(1, keepdim=True)
            exp_RV = logits_RV.sub_(peak_R1).exp_()
            sum_R1 = exp_RV.sum(1, keepdim=True)
            total += (sum_R1.log() + peak_R1 - picked_R1).sum(dtype=torch.float64)
            # The gradient of the mean with respect to the logits: (softmax - one-hot) / N.
            grad_logits_RV = exp_RV.div_(sum_R1 * n_rows)
            grad_logits_RV.scatter_add_(1, target_R1, torch.full_like(picked_R1, -1 / n_rows))
            torch.mm(grad_logits_RV, weight_VD, out=grad_x_ND[rows])
            grad_weight_VD.addmm_(grad_logits_RV.T, x_RD)
            if grad_bias_V is not None:
                grad_bias_V += grad_logits_RV.sum(0)
        ctx.save_for_backward(grad_x_ND, grad_weight_VD, grad_bias_V)
        return (total / n_rows).to(x_ND.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        grad_x_ND, grad_weight_VD, grad_bias_V = ctx.saved_tensors
        return (
            grad_x_ND * grad,
            grad_weight_VD * grad,
            None if grad_bias_V is None else grad_bias_V * grad,
            None,
        )
