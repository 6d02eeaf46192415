import pytest
from hypothesis import given
from hypothesis import strategies as st

from remeasure.referent.language import LANGUAGES, sentences
from remeasure.referent.split import Split, split_pairs

names = st.sampled_from(sorted(LANGUAGES))
shares = st.floats(0.02, 0.5)
seeds = st.integers(0, 2**31 - 1)


@given(name=names, share=shares, seed=seeds)
def test_no_pair_is_on_both_sides_and_none_is_lost(name, share, seed):
    split = split_pairs(LANGUAGES[name], share, seed)
    assert not set(split.training) & set(split.held_out)
    assert sorted(split.training + split.held_out) == sorted(LANGUAGES[name].pairs())
    assert len(split.held_out) == int(share * len(LANGUAGES[name].pairs())) >= 1


@given(share=shares, seed=seeds)
def test_the_reverse_of_each_held_out_pair_is_trained_on(share, seed):
    split = split_pairs(LANGUAGES["pool"], share, seed)
    assert {(y, x) for x, y in split.held_out} <= set(split.training)


@pytest.mark.parametrize(("name", "pairs", "texts"), [("pool", 48, 384), ("category", 12, 96)])
def test_a_fifth_held_out_gives_the_counts_of_the_chapter(name, pairs, texts):
    split = split_pairs(LANGUAGES[name], 0.2, 0)
    assert len(split.held_out) == pairs
    assert len(sentences(split.held_out)) == texts


def test_no_held_out_sentence_is_a_training_sentence():
    split = split_pairs(LANGUAGES["pool"], 0.2, 0)
    trained = {" ".join(text.words) for text in sentences(split.training)}
    held_out = {" ".join(text.words) for text in sentences(split.held_out)}
    assert len(trained) + len(held_out) == 240 * 8
    assert not trained & held_out


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_every_noun_is_trained_in_each_of_its_slots(name):
    split = split_pairs(LANGUAGES[name], 0.2, 0)
    assert {x for x, _ in split.training} == set(LANGUAGES[name].crossers)
    assert {y for _, y in split.training} == set(LANGUAGES[name].crossed)


def test_the_seed_decides():
    pool = LANGUAGES["pool"]
    assert split_pairs(pool, 0.2, 0) == split_pairs(pool, 0.2, 0)
    assert split_pairs(pool, 0.2, 0) != split_pairs(pool, 0.2, 1)


def test_a_leak_is_refused():
    pairs = tuple(LANGUAGES["pool"].pairs())
    with pytest.raises(ValueError, match="among those of training"):
        Split(training=pairs, held_out=pairs[:1])
