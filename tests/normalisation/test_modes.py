import math
from itertools import pairwise

import pytest
import torch
from torch.nn import functional as F

from remeasure.normalisation.leak import later_token, other_window
from remeasure.normalisation.modes import WAYS, asked, in_mode
from remeasure.normalisation.norms import NORMS

IDS, NEXT = torch.randint(0, 17, (2, 6, 12), generator=torch.Generator().manual_seed(1))
PER_TOKEN = ("layer", "rms")


def perplexity(model, way, batch_size, training):
    return asked(model, way, IDS, NEXT, batch_size=batch_size, training=training)


@pytest.mark.parametrize("kind", NORMS)
def test_evaluation_mode_gives_one_number_however_it_is_asked(model_of, kind):
    model = model_of(kind)
    expected = math.exp(F.cross_entropy(model(IDS).flatten(0, 1), NEXT.flatten()).item())
    for way in WAYS:
        for batch_size in (1, 4, 6):
            found = perplexity(model, way, batch_size, training=False)
            assert found == pytest.approx(expected, rel=1e-12), (way, batch_size)


@pytest.mark.parametrize("kind", PER_TOKEN)
def test_norms_over_a_token_know_no_training_mode(model_of, kind):
    model = model_of(kind)
    expected = perplexity(model, "whole", 6, training=False)
    for way in WAYS:
        for batch_size in (1, 4):
            found = perplexity(model, way, batch_size, training=True)
            assert found == pytest.approx(expected, rel=1e-12), (way, batch_size)


def test_batch_norm_in_training_mode_depends_on_what_is_in_the_batch(model_of):
    model = model_of("batch")
    found = {
        (way, size): perplexity(model, way, size, training=True)
        for way in WAYS
        for size in (1, 3, 6)
    }
    assert found.pop(("token", 1)) is None
    values = sorted([*found.values(), perplexity(model, "whole", 6, training=False)])
    assert min(larger / smaller - 1 for smaller, larger in pairwise(values)) > 1e-4, found


def test_a_whole_batch_in_training_mode_is_torch_s_batch_norm_on_it(model_of):
    model = model_of("batch")
    found = perplexity(model, "whole", 6, training=True)
    model.train()
    expected = F.cross_entropy(model(IDS).flatten(0, 1), NEXT.flatten())
    assert found == pytest.approx(math.exp(expected.item()), rel=1e-12)


@pytest.mark.parametrize("was_training", [True, False])
@pytest.mark.parametrize("kind", NORMS)
def test_asking_leaves_the_model_as_it_was(model_of, kind, was_training):
    model = model_of(kind).train(was_training)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for way in WAYS:
        for training in (True, False):
            perplexity(model, way, 1, training)
            perplexity(model, way, 4, training)
    other_window(model, IDS, 17, training=True)
    assert model.training is was_training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_a_mode_ends_with_its_block_even_if_that_fails(model_of):
    model = model_of("batch")
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}

    def fail_in_training_mode():
        with in_mode(model, training=True):
            model(IDS)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_in_training_mode()
    assert not model.training
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.named_buffers())


@pytest.mark.parametrize("leak", [later_token, other_window])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", NORMS)
def test_only_batch_norm_in_training_mode_leaks(model_of, kind, training, leak):
    found = leak(model_of(kind), IDS, 17, training=training)
    if kind == "batch" and training:
        assert found > 1e-3
    else:
        assert found == 0


def test_without_the_causal_mask_every_norm_leaks_from_the_later_token(model_of):
    assert later_token(model_of("layer", causal=False), IDS, 17, training=False) > 1e-3
