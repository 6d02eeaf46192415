"""Encoding, the split, and the file of token ids."""

import contextlib
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from remeasure.data.bpe import train
from remeasure.data.encoding import encode_and_split, load_tokenizer
from remeasure.data.tokens import Tokens, load_tokens, save_tokens
from remeasure.errors import UserError

TEXT = "The wéaves of the sea, the waves of the séa. " * 20


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A small text with characters of two bytes."""
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_split_and_counts(corpus: Path) -> None:
    tokenizer = train(TEXT, 280)
    tokens, counts = encode_and_split(corpus, tokenizer, 0.1)
    ids = tokenizer.encode(TEXT).ids
    assert torch.cat([tokens.train_N, tokens.held_out_N]).tolist() == ids
    assert len(tokens.train_N) == int(len(ids) * 0.9) == counts["training_tokens"]
    assert counts["characters"] == len(TEXT)
    assert counts["bytes"] == len(TEXT.encode())
    assert counts["characters_per_token"] == len(TEXT) / len(ids)


def test_held_out_bytes_are_those_of_the_predicted_tokens(corpus: Path) -> None:
    tokenizer = train(TEXT, 280)
    tokens, counts = encode_and_split(corpus, tokenizer, 0.1)
    printable = [tokenizer.id_to_token(int(token)) for token in tokens.held_out_N]
    assert tokens.held_out_bytes == sum(map(len, printable[1:]))
    assert counts["held_out_bytes"] == sum(map(len, printable))


def test_a_text_too_short_to_split(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("a")
    with pytest.raises(UserError, match="1 tokens cannot be split"):
        encode_and_split(path, train("a", 256), 0.1)


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"abc\xff\xfe")
    with pytest.raises(UserError, match=r"is not UTF-8 text \(byte 3\)"):
        encode_and_split(path, train("abc", 256), 0.1)


def test_round_trip_and_same_bytes(tmp_path: Path) -> None:
    tokens = Tokens(torch.tensor([1, 2, 65535]), torch.tensor([0, 5]), 65536, 9, "ab" * 32)
    for name in ("a.npz", "b.npz"):
        save_tokens(tmp_path / name, tokens)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    loaded = load_tokens(tmp_path / "a.npz")
    assert loaded.train_N.tolist() == [1, 2, 65535]
    assert loaded.held_out_N.tolist() == [0, 5]
    assert (loaded.vocab_size, loaded.held_out_bytes) == (65536, 9)
    assert loaded.corpus_sha256 == "ab" * 32


@given(position=st.integers(0, 2000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    path = tmp_path_factory.mktemp("tokens") / "tokens.npz"
    tokens = Tokens(torch.arange(300), torch.arange(90), 300, 9, "ab" * 32)
    save_tokens(path, tokens)
    content = bytearray(path.read_bytes())
    content[position % len(content)] ^= 1 << bit
    path.write_bytes(bytes(content))
    with contextlib.suppress(UserError):
        loaded = load_tokens(path)
        assert torch.equal(loaded.train_N, tokens.train_N)
        assert torch.equal(loaded.held_out_N, tokens.held_out_N)
        assert (loaded.vocab_size, loaded.held_out_bytes) == (300, 9)
        assert loaded.corpus_sha256 == tokens.corpus_sha256


def test_missing_files_say_which_stage_makes_them(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dvc repro tokenize"):
        load_tokens(tmp_path / "tokens.npz")
    with pytest.raises(UserError, match="dvc repro train_bpe"):
        load_tokenizer(tmp_path / "tokenizer.json")


def test_a_damaged_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": "1.0", "mod')
    with pytest.raises(UserError, match="damaged"):
        load_tokenizer(path)
