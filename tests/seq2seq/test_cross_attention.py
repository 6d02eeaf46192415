"""The encoder and decoder, against torch's own with the same weights."""

import pytest
import torch
from small_translators import small, sources
from torch import nn

from remeasure.seq2seq.cross_attention import CrossAttention, CrossAttentionTranslator
from remeasure.seq2seq.tasks import SEPARATOR

TOLERANCE = {"rtol": 0, "atol": 1e-12}


def copy_attention(theirs, weight, bias, output):
    theirs.in_proj_weight.copy_(weight)
    theirs.in_proj_bias.copy_(bias)
    theirs.out_proj.load_state_dict(output.state_dict())


def copy_self_attention(theirs, sublayer):
    one = sublayer.inner.query_key_value
    copy_attention(theirs, one.weight, one.bias, sublayer.inner.output)


def copy_cross_attention(theirs, ours):
    weight = torch.cat([ours.query.weight, ours.key_value.weight])
    bias = torch.cat([ours.query.bias, ours.key_value.bias])
    copy_attention(theirs, weight, bias, ours.output)


def copy_feed_forward(theirs, norm, sublayer):
    norm.load_state_dict(sublayer.norm_before.state_dict())
    theirs.linear1.load_state_dict(sublayer.inner.expand.state_dict())
    theirs.linear2.load_state_dict(sublayer.inner.contract.state_dict())


@torch.no_grad()
def torchs(ours: CrossAttentionTranslator, d_model: int, n_heads: int) -> nn.Transformer:
    """torch's transformer, pre-norm with GELU, with our weights."""
    n_blocks = len(ours.encoder)
    theirs = nn.Transformer(
        d_model,
        n_heads,
        n_blocks,
        n_blocks,
        4 * d_model,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    ).eval()
    for layer, block in zip(theirs.encoder.layers, ours.encoder, strict=True):
        attention, feed_forward = block.sublayers
        layer.norm1.load_state_dict(attention.norm_before.state_dict())
        copy_self_attention(layer.self_attn, attention)
        copy_feed_forward(layer, layer.norm2, feed_forward)
    for layer, block in zip(theirs.decoder.layers, ours.decoder, strict=True):
        layer.norm1.load_state_dict(block.self_attention.norm_before.state_dict())
        copy_self_attention(layer.self_attn, block.self_attention)
        layer.norm2.load_state_dict(block.cross_norm.state_dict())
        copy_cross_attention(layer.multihead_attn, block.cross_attention)
        copy_feed_forward(layer, layer.norm3, block.feed_forward)
    theirs.encoder.norm.load_state_dict(ours.encoder_norm.state_dict())
    theirs.decoder.norm.load_state_dict(ours.decoder_norm.state_dict())
    return theirs


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize(("n_source", "n_target"), [(7, 7), (1, 1), (5, 9)])
def test_features_are_those_of_torchs_transformer(n_source: int, n_target: int) -> None:
    ours = small("cross_attention")
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    source_BS, shifted_BT = sources(n_source, 3), sources(n_target, 3, seed=1)
    shifted_BT[:, 0] = SEPARATOR
    theirs = torchs(ours, 8, 2)
    expected = theirs(
        ours.positions(ours.embedding(source_BS), 0),
        ours.positions(ours.embedding(shifted_BT), 0),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(n_target, dtype=torch.float64),
        tgt_is_causal=True,
    )
    found = ours.features(source_BS, shifted_BT)
    torch.testing.assert_close(found, expected, **TOLERANCE)


@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_output_and_weights_are_those_of_torchs_attention(n_heads: int) -> None:
    torch.manual_seed(0)
    ours = CrossAttention(8, n_heads).double()
    theirs = nn.MultiheadAttention(8, n_heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        copy_cross_attention(theirs, ours)
    x_BTD, memory_BSD = (torch.randn(3, n, 8, dtype=torch.float64) for n in (4, 6))
    output, weights = theirs(x_BTD, memory_BSD, memory_BSD, average_attn_weights=False)
    torch.testing.assert_close(ours(x_BTD, memory_BSD), output, **TOLERANCE)
    torch.testing.assert_close(ours.weights(x_BTD, memory_BSD), weights, **TOLERANCE)
