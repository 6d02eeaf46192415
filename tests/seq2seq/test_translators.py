"""What holds for each of the four architectures."""

import math

import pytest
import torch
from small_translators import SMALL, small, sources
from torch.nn import functional as F

from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention
from remeasure.models.parts import parameter_count
from remeasure.params.seq2seq import SIZES, seq2seq_plan
from remeasure.seq2seq.architectures import ARCHITECTURES, build_translator
from remeasure.seq2seq.cross_attention import CrossAttention
from remeasure.seq2seq.tasks import SEPARATOR, VOCABULARY_SIZE, sequences, split


def test_every_architecture_that_params_know_is_there():
    assert set(ARCHITECTURES) == set(SIZES) == set(SMALL)


def test_no_prediction_depends_on_a_later_letter(translator):
    source_BS, shifted_BT = split(sequences("copy", sources(6, 3))[0])
    before = translator(source_BS, shifted_BT)
    for place in range(1, 6):
        changed_BT = shifted_BT.clone()
        changed_BT[:, place:] = (changed_BT[:, place:] + 1) % SEPARATOR
        after = translator(source_BS, changed_BT)
        torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-14)
        assert (after[:, place:] != before[:, place:]).any()


def test_every_letter_of_the_source_reaches_the_first_prediction(translator):
    source_BS, shifted_BT = split(sequences("copy", sources(6, 3))[0])
    before = translator(source_BS, shifted_BT)[:, 0]
    for place in range(6):
        changed_BS = source_BS.clone()
        changed_BS[:, place] = (changed_BS[:, place] + 1) % SEPARATOR
        assert (translator(changed_BS, shifted_BT)[:, 0] - before).abs().max() > 1e-6


def test_the_loss_counts_the_target_alone(translator):
    ids_BN, next_BN = sequences("sort", sources(5, 4))
    logits_BTV = translator(*split(ids_BN))
    _, target_BT = split(next_BN)
    expected = F.cross_entropy(logits_BTV.flatten(0, 1), target_BT.flatten())
    torch.testing.assert_close(translator.loss(ids_BN, next_BN), expected)
    summed = translator.summed_loss(ids_BN, next_BN)
    torch.testing.assert_close(summed, expected.detach() * target_BT.numel())
    other_BN = next_BN.clone()
    other_BN[:, :5] = 0
    torch.testing.assert_close(translator.loss(ids_BN, other_BN), expected)


def test_equal_logits_cost_the_logarithm_of_their_number(translator):
    with torch.no_grad():
        translator.output.weight.zero_()
        translator.output.bias.zero_()
        translator.output.bias[SEPARATOR] = -math.inf
    loss = translator.loss(*sequences("reverse", sources(5, 4)))
    assert float(loss.detach()) == pytest.approx(math.log(26))


def test_a_step_reaches_every_parameter_and_makes_the_loss_less(translator):
    batch = sequences("reverse", sources(5, 16))
    before = translator.loss(*batch)
    before.backward()
    with torch.no_grad():
        for name, parameter in translator.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.any(), name
            parameter -= 1e-3 * parameter.grad
    assert translator.loss(*batch) < before


def test_weights_are_shares(translator):
    source_BS, shifted_BT = split(sequences("sort", sources(6, 3))[0])
    for weights_BHTS in translator.weights(source_BS, shifted_BT):
        assert weights_BHTS.shape[0::2] == (3, 6)
        assert weights_BHTS.shape[3] == 6
        assert (weights_BHTS >= 0).all()
        assert (weights_BHTS.sum(-1) <= 1 + 1e-12).all()


@pytest.mark.parametrize(
    ("name", "layers", "heads"),
    [("lstm", 0, 0), ("bahdanau", 1, 1), ("cross_attention", 2, 2), ("decoder_only", 2, 2)],
)
def test_each_has_the_attention_that_it_has(name, layers, heads):
    source_BS, shifted_BT = split(sequences("sort", sources(6, 3))[0])
    found = small(name).weights(source_BS, shifted_BT)
    assert [weights_BHTS.shape[1] for weights_BHTS in found] == [heads] * layers
    if name in ("bahdanau", "cross_attention"):
        for weights_BHTS in found:
            sums = weights_BHTS.sum(-1)
            torch.testing.assert_close(sums, torch.ones_like(sums))


def inputs_of(model, kind, *batch):
    """What each module of a kind reads while the model predicts, first block first."""
    read = []
    handles = [
        module.register_forward_pre_hook(lambda _, args: read.append(args))
        for module in model.modules()
        if isinstance(module, kind)
    ]
    model(*batch)
    for handle in handles:
        handle.remove()
    return read


def test_weights_of_the_decoder_only_block_are_those_of_its_layers():
    model = small("decoder_only")
    batch = split(sequences("sort", sources(4, 2))[0])
    later_NN = torch.ones(8, 8, dtype=torch.bool).triu(1)
    expected = []
    layers = [module for module in model.modules() if isinstance(module, SelfAttention)]
    for layer, (x_BND, *_) in zip(layers, inputs_of(model, SelfAttention, *batch), strict=True):
        query_BHNK, key_BHNK, _ = layer.project(x_BND, None)
        scores = torch.einsum("bhtk,bhsk->bhts", query_BHNK, key_BHNK) / math.sqrt(4)
        weights = scores.masked_fill(later_NN, -math.inf).softmax(-1)
        expected.append(weights[:, :, 4:, :4])
    torch.testing.assert_close(model.weights(*batch), expected)


def test_weights_of_cross_attention_are_those_of_its_layers():
    model = small("cross_attention")
    batch = split(sequences("sort", sources(4, 2))[0])
    layers = [module for module in model.modules() if isinstance(module, CrossAttention)]
    read = inputs_of(model, CrossAttention, *batch)
    expected = [layer.weights(*args) for layer, args in zip(layers, read, strict=True)]
    assert len(expected) == 2
    torch.testing.assert_close(model.weights(*batch), expected)


def test_the_decoder_only_translator_is_the_language_model(translator):
    model = small("decoder_only")
    assert isinstance(model.model, LanguageModel)
    source_BS, shifted_BT = split(sequences("sort", sources(4, 2))[0])
    whole = model.model(torch.cat([source_BS, shifted_BT], 1))
    torch.testing.assert_close(model(source_BS, shifted_BT), whole[:, 4:])


def test_the_four_have_nearly_as_many_parameters(params):
    counts = [
        parameter_count(build_translator(name, seq2seq_plan(params, f"copy_{name}").sizes))
        for name in ARCHITECTURES
    ]
    assert max(counts) / min(counts) < 1.02


def test_the_vocabulary_is_letters_and_the_separator(translator):
    assert translator.output.out_features == VOCABULARY_SIZE == 27
