import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from remeasure.models.build import build
from remeasure.normalisation.norms import EPSILON, NORMS, BatchNorm, SingleValue, exchange


def some(batch=3, length=5, width=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 + 3 * torch.randn(batch, length, width, generator=generator, dtype=torch.float64)


def test_batch_norm_is_what_the_paper_writes():
    x_BTD = some()
    norm = BatchNorm(8).double()
    rows_ND = x_BTD.reshape(15, 8)
    mean_D = rows_ND.sum(0) / 15
    variance_D = ((rows_ND - mean_D) ** 2).sum(0) / 15
    torch.testing.assert_close(norm(x_BTD), (x_BTD - mean_D) / (variance_D + EPSILON).sqrt())
    # The running variance follows the unbiased one, a tenth of the way each time.
    running_D = 0.9 + 0.1 * variance_D * 15 / 14
    expected = (x_BTD - 0.1 * mean_D) / (running_D + EPSILON).sqrt()
    torch.testing.assert_close(norm.eval()(x_BTD), expected)


def test_rms_norm_is_what_the_paper_writes():
    x_BTD = some()
    square_BT1 = (x_BTD**2).mean(-1, keepdim=True)
    norm = NORMS["rms"](8).double()
    torch.testing.assert_close(norm(x_BTD), x_BTD / (square_BT1 + EPSILON).sqrt())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_layer_norm_is_rms_norm_of_what_has_its_mean_taken_off(seed):
    x_BTD = some(seed=seed)
    centred_BTD = x_BTD - x_BTD.mean(-1, keepdim=True)
    layer, rms = NORMS["layer"](8).double(), NORMS["rms"](8).double()
    torch.testing.assert_close(layer(x_BTD), rms(centred_BTD))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), factor=st.floats(0.1, 10), shift=st.floats(-5, 5))
def test_batch_norm_does_not_see_scale_and_shift_of_a_feature(seed, factor, shift):
    x_BTD = some(seed=seed)
    norm = BatchNorm(8).double()
    changed = norm(factor * x_BTD + shift)
    torch.testing.assert_close(changed, norm(x_BTD), rtol=1e-3, atol=1e-3)


def test_one_token_in_training_mode_is_refused_as_torch_refuses_it():
    x_BTD = some(1, 1)
    with pytest.raises(SingleValue):
        BatchNorm(8).double()(x_BTD)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        nn.BatchNorm1d(8).double()(x_BTD.flatten(0, 1))
    assert BatchNorm(8).double().eval()(x_BTD).shape == (1, 1, 8)


@pytest.mark.parametrize("place", ["pre", "post"])
@pytest.mark.parametrize("kind", NORMS)
def test_every_layer_norm_is_exchanged_and_nothing_else(small_spec, kind, place):
    spec = small_spec.model_copy(update={"norm": place, "n_blocks": 2})
    torch.manual_seed(0)
    plain = build(spec, 17)
    torch.manual_seed(0)
    model = build(spec, 17)
    exchange(model, kind)
    made = type(NORMS[kind](16))
    count = sum(isinstance(module, nn.LayerNorm) for module in plain.modules())
    assert sum(type(module) is made for module in model.modules()) == count == 4 + (place == "pre")
    others = {n: p for n, p in plain.named_parameters() if "norm" not in n}
    assert others.keys() == {n for n, _ in model.named_parameters() if "norm" not in n}
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            assert torch.equal(parameter, others[name])


def test_layer_norms_exchanged_for_layer_norms_are_the_chapter_s_block(small_spec):
    ids_BT = torch.arange(24).view(2, 12) % 17
    torch.manual_seed(0)
    plain = build(small_spec, 17)
    torch.manual_seed(0)
    model = build(small_spec, 17)
    exchange(model, "layer")
    assert torch.equal(model(ids_BT), plain(ids_BT))
