import pytest
import torch

from remeasure.models.build import build
from remeasure.models.mixers import attention_layers
from remeasure.referent.attention import (
    Row,
    asked_rows,
    attention_map,
    attention_numbers,
    example_sentences,
)
from remeasure.referent.language import (
    ADJECTIVE,
    FIRST_NOUN,
    LANGUAGES,
    REFERENT,
    SECOND_NOUN,
    VOCABULARY,
    sentences,
)
from remeasure.referent.scoring import questions

VISIBLE = questions(example_sentences()).visible_NT


@pytest.fixture
def model_of(sentence_spec):
    """Builds a model of two blocks in float64, with these keys changed."""

    def build_it(**changes):
        torch.manual_seed(0)
        spec = sentence_spec.model_copy(update={"n_blocks": 2, **changes})
        return build(spec, len(VOCABULARY)).double()

    return build_it


def test_rows_are_what_the_layers_themselves_compute(model_of):
    model = model_of()
    inputs = []
    for layer in attention_layers(model):
        layer.register_forward_pre_hook(lambda module, args: inputs.append((module, args[0])))
    model(VISIBLE)
    rows = asked_rows(model, VISIBLE)
    assert len(rows) == 2
    for row, (layer, x) in zip(rows, inputs[:2], strict=True):
        query, key, _ = layer.project(x, None)
        scores = torch.einsum("bhk,bhsk->bhs", query[:, :, -1], key) / layer.head_width**0.5
        torch.testing.assert_close(row.scores_AHT, scores)
        torch.testing.assert_close(row.weights_AHT, scores.softmax(-1))
        assert row.weights_AHT.shape == (8, 4, REFERENT)


def test_a_uniform_average_has_no_rows(model_of):
    rows = asked_rows(model_of(mixer="uniform"), VISIBLE)
    assert rows == []
    assert attention_numbers(rows) == {}


@pytest.mark.parametrize("pos", ["none", "learned", "sinusoidal", "rope", "alibi"])
@pytest.mark.parametrize("norm", ["none", "pre", "post"])
def test_the_first_block_scores_every_word_but_the_adjective_alike(model_of, pos, norm):
    numbers = attention_numbers(asked_rows(model_of(pos=pos, norm=norm), VISIBLE))
    assert numbers["block1_same.max_score_diff"] < 1e-14
    assert numbers["block2_same.max_score_diff"] > 1e-3


def test_the_first_block_s_weights_differ_by_one_factor_only(model_of):
    weights = asked_rows(model_of(), VISIBLE)[0].weights_AHT
    before = weights[..., :ADJECTIVE]
    assert (before[0] - before[-1]).abs().max() > 1e-4
    ratio = before[0] / before[-1]
    torch.testing.assert_close(ratio, ratio[:, :1].expand_as(ratio))


def test_numbers_of_rows_made_by_hand():
    weights = torch.zeros(8, 2, REFERENT)
    weights[:4, :, ADJECTIVE] = torch.tensor([1.0, 0.5])
    weights[4:, :, SECOND_NOUN] = torch.tensor([0.25, 0.75])
    weights[:, 0, FIRST_NOUN] = 0.5
    scores = torch.zeros(8, 2, REFERENT)
    scores[3, 1, ADJECTIVE + 1] = -2
    scores[5, 0, ADJECTIVE] = 100
    assert attention_numbers([Row(scores, weights)]) == {
        "block1_weight_on_first_noun": 0.25,
        "block1_crosser_weight_on_adjective": 0.75,
        "block1_crossed_weight_on_second_noun": 0.5,
        "block1_same.max_score_diff": 2,
        "block1_same.max_weight_diff": 0.75,
    }


def test_the_map_shows_each_sentence_block_and_head(model_of):
    model = model_of()
    rows = asked_rows(model, VISIBLE)
    shown = attention_map(model, VISIBLE, rows)
    assert [sentence["words"][ADJECTIVE] for sentence in shown] == [
        "tired", "scared", "slow", "weak", "wet", "wide", "busy", "steep",
    ]  # fmt: skip
    assert [sentence["referent"] for sentence in shown] == ["animal"] * 4 + ["street"] * 4
    for index, sentence in enumerate(shown):
        assert len(sentence["words"]) == REFERENT
        assert len(sentence["blocks"]) == 2
        for block, row in zip(sentence["blocks"], rows, strict=True):
            heads = torch.tensor(block["heads"], dtype=torch.float64)
            assert (heads - row.weights_AHT[index]).abs().max() < 1e-6
            mean = torch.tensor(block["mean"], dtype=torch.float64)
            assert (mean - heads.mean(0)).abs().max() < 2e-6


def test_the_map_s_answer_is_the_likeliest_word(model_of):
    model = model_of()
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.zero_()
        model.output.bias[VOCABULARY.index("fox")] = 1
    shown = attention_map(model, VISIBLE, asked_rows(model, VISIBLE))
    assert {sentence["answer"] for sentence in shown} == {"fox"}


def test_the_example_is_one_pair_of_the_pool():
    pool = {" ".join(text.words) for text in sentences(LANGUAGES["pool"].pairs())}
    assert {" ".join(text.words) for text in example_sentences()} <= pool
