"""Encoding in stretches gives the ids of encoding at once, and counts the same bytes."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from remeasure.data import encoding
from remeasure.data.bpe import train
from remeasure.data.encoding import encode, encode_and_split

TEXT = "The quick brown fox’s den: 12 foxes,  and\n\n  more — naïve 狐 foxes' dens.\n" * 30


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """A small BPE."""
    return train(TEXT, 320)


@settings(max_examples=200, deadline=None)
@given(text=st.text() | st.text(alphabet=" \n\tab’'1.", max_size=60), stretch=st.integers(1, 9))
def test_stretches_change_nothing(tokenizer: Tokenizer, text: str, stretch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "STRETCH", stretch)
        assert encode(text, tokenizer).tolist() == tokenizer.encode(text).ids


def test_bytes_are_counted_by_token(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    tokens, counts = encode_and_split(path, tokenizer, 0.1)
    held = tokens.held_out_N.tolist()
    assert counts["tokens"] == len(np.concatenate([tokens.train_N, tokens.held_out_N]))
    spelled = [tokenizer.id_to_token(token) for token in held]
    assert counts["held_out_bytes"] == sum(map(len, spelled))
    assert tokens.held_out_bytes == sum(map(len, spelled[1:]))
    whole = [tokenizer.id_to_token(token) for token in tokens.train_N.tolist() + held]
    assert sum(map(len, whole)) == counts["bytes"] == len(TEXT.encode())
