"""The same feed-forward layer in blocks of rows that stay in the processor's cache, for training.

The hidden layer of a batch, [8192, 512] at the chapter's budget, is written to memory and read back
by each of GELU, its gradient and two products. Here a block of rows goes all the way before the
next; GELU's output is made again on the way back and never kept.

Shapes: N rows (tokens), D width, F width of the hidden layer, R rows of one block.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

BLOCK_ELEMENTS = 256 * 1024
"""Hidden numbers a block: a megabyte in float32. The fastest of those measured."""


def blocked_feed_forward(
    x_ND: Tensor, expand_FD: Tensor, expand_F: Tensor, contract_DF: Tensor, contract_D: Tensor
) -> Tensor:
    """GELU(x E^T + e) C^T + c for the weights and biases of two linear layers: [N, D].

    Differentiable once in all five.
    """
    y_ND: Tensor = _BlockedFeedForward.apply(  # type: ignore[no-untyped-call]
        x_ND, expand_FD, expand_F, contract_DF, contract_D
    )
    return y_ND


def _blocks(x_ND: Tensor, hidden: int) -> list[slice]:
    rows = max(1, BLOCK_ELEMENTS // hidden)
    return [slice(start, min(start + rows, len(x_ND))) for start in range(0, len(x_ND), rows)]


class _BlockedFeedForward(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x_ND: Tensor,
        expand_FD: Tensor,
        expand_F: Tensor,
        contract_DF: Tensor,
        contract_D: Tensor,
    ) -> Tensor:
        hidden_NF = x_ND.new_empty(len(x_ND), len(expand_FD))
        y_ND = torch.empty_like(x_ND)
        for rows in _blocks(x_ND, len(expand_FD)):
            torch.addmm(expand_F, x_ND[rows], expand_FD.T, out=hidden_NF[rows])
            torch.addmm(contract_D, F.gelu(hidden_NF[rows]), contract_DF.T, out=y_ND[rows])
        ctx.save_for_backward(x_ND, expand_FD, contract_DF, hidden_NF)
        return y_ND

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_ND: Tensor) -> tuple[Tensor, ...]:
        x_ND, expand_FD, contract_DF, hidden_NF = ctx.saved_tensors
        grad_x_ND = torch.empty_like(x_ND)
        grad_expand_FD, grad_contract_DF = (
            torch.zeros_like(weight) for weight in (expand_FD, contract_DF)
        )
        grad_expand_F = expand_FD.new_zeros(len(expand_FD))
        for rows in _blocks(x_ND, len(expand_FD)):
            hidden_RF = hidden_NF[rows]
            grad_contract_DF.addmm_(grad_ND[rows].T, F.gelu(hidden_RF))
            grad_RF = torch.ops.aten.gelu_backward(grad_ND[rows] @ contract_DF, hidden_RF)
            torch.mm(grad_RF, expand_FD, out=grad_x_ND[rows])
            grad_expand_FD.addmm_(grad_RF.T, x_ND[rows])
            grad_expand_F += grad_RF.sum(0)
        return grad_x_ND, grad_expand_FD, grad_expand_F, grad_contract_DF, grad_ND.sum(0)
