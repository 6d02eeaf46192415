"""The BPE trainer against a naive one, its refusals, and the number that fixes its tie rule."""

import json
import os
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers

from remeasure.data.bpe import _count_words, train

CORPUS = Path(
    os.environ.get("CORPUS_FILE")
    or Path(__file__).parents[2] / ".." / "shared" / "corpus" / "tinyshakespeare.txt"
)

Merges = list[tuple[str, str]]

no_deadline = settings(deadline=None)  # a busy machine may stall any one example

# Few letters give many ties; spaces, line ends and "é" (two bytes) give several short words.
tied_texts = st.one_of(
    st.text("ab", max_size=40),
    st.text("ab ", max_size=80),
    st.text("abc \n", max_size=80),
    st.text("aé '1!\r\n", max_size=60),
)


def running_words(text: str) -> list[str]:
    """Every word of the text in reading order, repeated ones too."""
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return [word for word, _ in splitter.pre_tokenize_str(text)]


def naive_merges(words_in_order: list[str], n_merges: int) -> Merges:
    """The textbook trainer: count all pairs anew in reading order, take the first maximum."""
    words = [list(word) for word in words_in_order]
    merges: Merges = []
    while len(merges) < n_merges:
        counts: dict[tuple[str, str], int] = {}
        for word in words:
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=lambda pair: counts[pair])
        merges.append(best)
        for word in words:
            position = 0
            while position < len(word) - 1:
                if (word[position], word[position + 1]) == best:
                    word[position : position + 2] = [best[0] + best[1]]
                position += 1
    return merges


def merges_of(tokenizer: Tokenizer) -> Merges:
    return [(left, right) for left, right in json.loads(tokenizer.to_str())["model"]["merges"]]


def vocabulary_of(tokenizer: Tokenizer) -> list[str | None]:
    return [tokenizer.id_to_token(token) for token in range(tokenizer.get_vocab_size())]


@no_deadline
@given(tied_texts, st.integers(0, 40))
@example("aaaaaaa aaa aaaa", 5)
@example("ababababpqabrpqabr", 4)  # merges before (p, q) renumber the symbols up to it
def test_merges_are_those_of_the_naive_trainer(text: str, n_merges: int) -> None:
    tokenizer = train(text, 256 + n_merges)
    expected = naive_merges(running_words(text), n_merges)
    assert merges_of(tokenizer) == expected
    assert vocabulary_of(tokenizer)[256:] == [left + right for left, right in expected]


def test_a_tie_goes_to_the_pair_met_first_not_to_the_smaller_one() -> None:
    assert merges_of(train("zy ab zy ab", 257)) == [("z", "y")]


@no_deadline
@given(st.one_of(tied_texts, st.text()))
@example("a\r\nb \r\n\r\n  c \x1c\x85\u2028\u3000 d")
@example("\x00\ufffd\ufeff\U0010ffff e\u0301 \u200d\U0001f468")
def test_words_counted_in_pieces_are_those_of_the_running_text(text: str) -> None:
    expected: dict[str, int] = {}
    for word in running_words(text):
        expected[word] = expected.get(word, 0) + 1
    assert list(_count_words(text).items()) == list(expected.items())


@no_deadline
@given(st.text(), st.text())
@example("", "")
@example("a\r\nb\r\n", "\r\n \r\n\n")
@example("\U0001f468\u200d\U0001f469", "\x00\ufffd\ufeff\U0010ffff e\u0301")
def test_decoding_what_was_encoded_gives_the_text(training_text: str, text: str) -> None:
    tokenizer = train(training_text, 300)
    assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.decode(tokenizer.encode(training_text).ids) == training_text


def test_the_first_ids_are_the_bytes_by_value() -> None:
    tokenizer = train("", 256)
    text = "".join(map(chr, range(0x800))) + "\u0fff\uffff\U0003ffff\U00100000"
    assert tokenizer.encode(text).ids == list(text.encode())
    assert set(vocabulary_of(tokenizer)) == set(pre_tokenizers.ByteLevel.alphabet())


@pytest.mark.parametrize("vocab_size", [255, 0, -1])
def test_a_vocabulary_smaller_than_the_bytes_is_refused(vocab_size: int) -> None:
    with pytest.raises(ValueError, match=rf"at least 256.*got {vocab_size}$"):
        train("some text", vocab_size)


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        train("a \ud800", 300)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("a", []),
        ("aaaa", ["aa", "aaaa"]),
        ("aaa", ["aa", "aaa"]),
        ("ab ab", ["ab", "Ġab"]),
    ],
)
def test_training_stops_when_no_pair_is_left(text: str, tokens: list[str]) -> None:
    assert vocabulary_of(train(text, 1000))[256:] == tokens


def test_training_twice_gives_identical_bytes() -> None:
    text = "to be, or not to be: that is the question"
    assert train(text, 280).to_str() == train(text, 280).to_str()


def test_a_saved_tokenizer_is_the_same_when_loaded(tmp_path: Path) -> None:
    text = "to be, or not to be:\r\nthat is the question"
    tokenizer = train(text, 280)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    loaded = Tokenizer.from_file(str(path))
    assert loaded.to_str() == tokenizer.to_str()
    assert loaded.encode(text).ids == tokenizer.encode(text).ids
    assert loaded.decode(loaded.encode(text).ids) == text


@pytest.fixture
def corpus() -> str:
    if not CORPUS.is_file():
        pytest.skip(f"no corpus at {CORPUS}; set CORPUS_FILE to a copy of tinyshakespeare.txt")
    return CORPUS.read_bytes().decode("utf-8")


def train_within(seconds: float, text: str, vocab_size: int) -> Tokenizer:
    start = time.process_time()  # not the clock on the wall, which other processes slow down
    tokenizer = train(text, vocab_size)
    assert time.process_time() - start < seconds
    return tokenizer


def test_tinyshakespeare_has_459760_tokens(corpus: str) -> None:
    assert len(corpus) == 1_115_394
    tokenizer = train_within(3.0, corpus, 1024)
    assert tokenizer.get_vocab_size() == 1024
    assert len(tokenizer.encode(corpus).ids) == 459_760


def test_a_vocabulary_of_8192_is_learnt_within_15_seconds(corpus: str) -> None:
    assert train_within(15.0, corpus, 8192).get_vocab_size() == 8192
