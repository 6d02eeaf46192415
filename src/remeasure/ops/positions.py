"""Three ways to say where a token is that have no table to train.

Shapes: H heads, T query positions, S key positions (the queries are the last T of them), K head
width (even), D model width (even), P positions.
"""

import torch
from torch import Tensor


def sinusoids(n_positions: int, d_model: int) -> Tensor:
    """Sines (even columns) and cosines (odd columns), [P, D] (Vaswani et al. 2017, section 3.5).

    Column pair j turns with wavelength 2 pi 10000^(2j/D). Raises ValueError if D is odd.
    """
    if d_model % 2:
        raise ValueError(f"sinusoids need an even width, not {d_model}")
    angles = _angles(0, n_positions, d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


def rotate(x: Tensor, first_position: int) -> Tensor:
    """RoPE (Su et al. 2021): the vectors [..., T, K] turned by angles proportional to position.

    The two-dimensional slices are neighbouring columns (2j, 2j+1), as in the paper; row t stands at
    position `first_position` + t. Applied to query and key alike, a score depends on t - i only.
    Raises ValueError if K is odd.
    """
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"RoPE needs an even head width, not {width}")
    angles_TJ = _angles(first_position, x.shape[-2], width).to(x.device)
    cosine, sine = angles_TJ.cos().to(x.dtype), angles_TJ.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([even * cosine - odd * sine, even * sine + odd * cosine], dim=-1)
    return turned.flatten(-2)


def alibi_slopes(n_heads: int) -> Tensor:
    """One slope a head, [H] (Press, Smith and Lewis 2022, section 3 and their released code).

    For H a power of two: 2^(-8/H), 2^(-16/H), ... Otherwise those of the power of two below H,
    followed by every other slope of twice that power.
    """
    power = 1 << (n_heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2 ** (-4 * (head + 1) / power) for head in range(0, 2 * power, 2)]
    return torch.tensor((slopes + between)[:n_heads])


def alibi_bias(
    n_heads: int, n_queries: int, n_keys: int, *, device: torch.device | None = None
) -> Tensor:
    """ALiBi's penalty on the scores, [H, T, S]: minus the head's slope times the distance t - i."""
    query_T1 = torch.arange(n_keys - n_queries, n_keys, device=device)[:, None]
    key_1S = torch.arange(n_keys, device=device)[None, :]
    slopes_H11 = alibi_slopes(n_heads).to(device)[:, None, None]
    return slopes_H11 * (key_1S - query_T1)


def _angles(first_position: int, n_positions: int, width: int) -> Tensor:
    """Angle of position p in slice j, p 10000^(-2j/width), [P, width/2], in float64."""
    position_P1 = torch.arange(first_position, first_position + n_positions).double()[:, None]
    exponent_J = torch.arange(0, width, 2).double() / width
    return position_P1 / 10000**exponent_J
