"""Our attention layer is PyTorch's, exactly in float64; the probe sees it where it is not."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from torch import nn

from remeasure.errors import ParameterError
from remeasure.models.mixers import SelfAttention
from remeasure.probes import equivalence
from remeasure.probes.equivalence import by_kernel, by_module, with_weights_of


def test_only_rounding_is_left(small_settings: Callable[..., Any]) -> None:
    record = equivalence.measure(small_settings("equivalence", d_model=48, tokens=20))
    assert record["multihead_attention"]["max_diff"] <= 1e-6
    assert record["scaled_dot_product_attention"]["max_diff"] <= 1e-6
    assert 0.01 < record["mean_magnitude"] < 1


@hypothesis_settings(max_examples=15, deadline=None)
@given(
    n_heads=st.integers(1, 4),
    head_width=st.integers(1, 5),
    tokens=st.integers(1, 9),
    seed=st.integers(0, 99),
)
def test_equal_in_float64_with_biases(
    n_heads: int, head_width: int, tokens: int, seed: int
) -> None:
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(n_heads * head_width, n_heads, batch_first=True).double().eval()
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        theirs.out_proj.bias.normal_()
        x_BTD = torch.randn(2, tokens, n_heads * head_width, dtype=torch.float64)
        ours_BTD = with_weights_of(theirs)(x_BTD)
        torch.testing.assert_close(ours_BTD, by_module(theirs, x_BTD), rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(ours_BTD, by_kernel(theirs, x_BTD), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("attribute", "wrong"), [("scale", False), ("causal", False), ("positions", "alibi")]
)
def test_a_broken_layer_shows(
    small_settings: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    attribute: str,
    wrong: object,
) -> None:
    def broken(theirs: nn.MultiheadAttention) -> SelfAttention:
        layer = with_weights_of(theirs)
        setattr(layer, attribute, wrong)
        return layer

    monkeypatch.setattr(equivalence, "with_weights_of", broken)
    record = equivalence.measure(small_settings("equivalence"))
    assert record["multihead_attention"]["max_diff"] > 1e-3
    assert record["scaled_dot_product_attention"]["max_diff"] > 1e-3


def test_heads_that_do_not_share_the_width_out(small_settings: Callable[..., Any]) -> None:
    with pytest.raises(ParameterError, match="d_model 12 is not divisible by n_heads 5"):
        small_settings("equivalence", n_heads=5)
