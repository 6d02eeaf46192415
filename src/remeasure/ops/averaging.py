"""The causal average of a growing prefix, in the three forms that are one function.

Shapes: B batch, T tokens, D width.
"""

import torch
from torch import Tensor


def averaging_matrix(
    length: int, *, dtype: torch.dtype | None = None, device: torch.device | None = None
) -> Tensor:
    """The lower-triangular matrix [T, T] whose row t holds 1/(t+1) up to t, and zero after it."""
    lower = torch.ones(length, length, dtype=dtype, device=device).tril()
    return lower / lower.sum(1, keepdim=True)


def average_by_loop(x_BTD: Tensor) -> Tensor:
    """Mean of the first t+1 vectors at every t: [B, T, D] to [B, T, D], one slice at a time."""
    means = [x_BTD[..., : t + 1, :].mean(-2) for t in range(x_BTD.shape[-2])]
    return torch.stack(means, dim=-2)


def average_by_matmul(x_BTD: Tensor) -> Tensor:
    """The same as one product with the averaging matrix: [B, T, D] to [B, T, D]."""
    return averaging_matrix(x_BTD.shape[-2], dtype=x_BTD.dtype, device=x_BTD.device) @ x_BTD


def average_by_softmax(x_BTD: Tensor) -> Tensor:
    """The same as attention whose allowed scores are all zero: [B, T, D] to [B, T, D]."""
    length = x_BTD.shape[-2]
    scores_TT = torch.zeros(length, length, dtype=x_BTD.dtype, device=x_BTD.device)
    forbidden_TT = torch.ones_like(scores_TT, dtype=torch.bool).triu(1)
    return scores_TT.masked_fill(forbidden_TT, float("-inf")).softmax(-1) @ x_BTD
