"""The scaled embedding against the definition, written out with torch's functions in float64.

Shapes: B windows, T tokens, D width, V vocabulary.
"""

import math

import pytest
import torch
from torch.nn import functional

from remeasure.models.build import build
from remeasure.scaled_embedding.embedding import ScaledEmbedding, scale_embedding

VOCABULARY = 17


@pytest.fixture
def models(small_spec):
    """The same model twice, in float64: as PyTorch draws it, and with a scaled embedding."""

    def build_them(**changes):
        found = []
        for _ in range(2):
            torch.manual_seed(0)
            found.append(build(small_spec.model_copy(update=changes), VOCABULARY).double())
        scale_embedding(found[1])
        return found

    return build_them


def test_a_lookup_is_the_row_times_the_root_of_the_width():
    torch.manual_seed(0)
    embedding = ScaledEmbedding(VOCABULARY, 9).double()
    ids_BT = torch.randint(0, VOCABULARY, (3, 5))
    weight_VD = embedding.weight.detach().clone().requires_grad_()
    expected_BTD = functional.embedding(ids_BT, weight_VD) * 3
    torch.testing.assert_close(embedding(ids_BT), expected_BTD)
    direction_BTD = torch.randn(3, 5, 9, dtype=torch.float64)
    embedding(ids_BT).backward(direction_BTD)
    expected_BTD.backward(direction_BTD)
    torch.testing.assert_close(embedding.weight.grad, weight_VD.grad)


def test_the_blocks_read_what_they_read_before(models):
    plain, scaled = models(tie_embeddings=False)
    ids_BT = torch.randint(0, VOCABULARY, (2, 7))
    torch.testing.assert_close(scaled.features(ids_BT), plain.features(ids_BT))
    torch.testing.assert_close(scaled(ids_BT), plain(ids_BT))


def test_a_tied_output_layer_starts_smaller_by_the_root_of_the_width(models):
    plain, scaled = models(tie_embeddings=True, output_bias=False)
    ids_BT = torch.randint(0, VOCABULARY, (2, 7))
    root = math.sqrt(plain.embedding.embedding_dim)
    torch.testing.assert_close(scaled(ids_BT) * root, plain(ids_BT))


@pytest.mark.parametrize("tied", [True, False])
def test_tied_weights_stay_one_tensor(models, tied):
    plain, scaled = models(tie_embeddings=tied)
    assert (scaled.output.weight is scaled.embedding.weight) is tied
    shapes = [{name: p.shape for name, p in model.named_parameters()} for model in (plain, scaled)]
    assert shapes[0] == shapes[1]


def test_nothing_is_drawn_at_random(small_spec):
    model = build(small_spec, VOCABULARY)
    before = torch.get_rng_state()
    scale_embedding(model)
    assert torch.equal(torch.get_rng_state(), before)
