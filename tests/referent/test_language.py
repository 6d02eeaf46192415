import pytest

from remeasure.referent.language import (
    ADJECTIVE,
    ADJECTIVES,
    ANIMALS,
    ASKED,
    CROSSED_ADJECTIVES,
    CROSSER_ADJECTIVES,
    EXAMPLE,
    FIRST_NOUN,
    LANGUAGES,
    LENGTH,
    PLACES,
    REFERENT,
    SECOND_NOUN,
    VOCABULARY,
    Sentence,
    encode,
    sentences,
)


def test_fifteen_words_are_visible_and_the_referent_is_next():
    words = Sentence(EXAMPLE, "tired").words
    assert len(words) == LENGTH == 18
    assert REFERENT == 15
    assert words[FIRST_NOUN] == "animal"
    assert words[SECOND_NOUN] == "street"
    assert words[ADJECTIVE] == "tired"
    assert words[ASKED - 1 : REFERENT + 1] == ["so", "the", "animal"]


@pytest.mark.parametrize("adjective", ADJECTIVES)
def test_the_adjective_alone_decides_between_the_two_nouns(adjective):
    names_crosser = adjective in {"tired", "scared", "slow", "weak"}
    sentence = Sentence(("fox", "river"), adjective)
    assert (sentence.referent, sentence.other) == (
        ("fox", "river") if names_crosser else ("river", "fox")
    )
    swapped = Sentence(("river", "fox"), adjective)
    assert (swapped.referent, swapped.other) == (sentence.other, sentence.referent)


def test_eight_adjectives_split_in_halves():
    assert len(set(CROSSER_ADJECTIVES)) == len(set(CROSSED_ADJECTIVES)) == 4
    assert not set(CROSSER_ADJECTIVES) & set(CROSSED_ADJECTIVES)


def test_the_pool_has_every_order_of_sixteen_nouns():
    pool = LANGUAGES["pool"]
    pairs = set(pool.pairs())
    assert len(pool.pairs()) == len(pairs) == 240
    assert len({noun for pair in pairs for noun in pair}) == 16
    assert all((y, x) in pairs and x != y for x, y in pairs)
    assert EXAMPLE in pairs


def test_categories_keep_to_their_slots():
    pairs = LANGUAGES["category"].pairs()
    assert len(pairs) == 64
    assert {x for x, _ in pairs} == set(ANIMALS)
    assert {y for _, y in pairs} == set(PLACES)
    assert not set(ANIMALS) & set(PLACES)


def test_encoding_is_one_token_a_word_and_can_be_read_back():
    texts = sentences(LANGUAGES["pool"].pairs())
    tokens = encode(texts)
    assert tokens.shape == (240 * 8, LENGTH)
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert set(tokens.flatten().tolist()) == set(range(len(VOCABULARY)))
    assert [[VOCABULARY[token] for token in row] for row in tokens.tolist()] == [
        text.words for text in texts
    ]
