"""Text to token ids, and the one split into training and held-out tokens."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from remeasure.data.text import read_text
from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.records.files import sha256_of

STRETCH = 1_000_000
"""Characters encoded at once."""
_CUT = re.compile(r"(?<=\S)(?=[ \n])")
"""Before a space or newline that follows no white space: no word of GPT-2's pattern spans it."""


def load_tokenizer(path: Path) -> Tokenizer:
    """Read tokenizer.json. Raises UserError if it is missing or damaged."""
    if not path.exists():
        raise UserError(f"{path}: not found; 'dvc repro train_bpe' makes it")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{path}: damaged ({first_line}); 'dvc repro --force train_bpe' makes it anew"
        ) from None


def encode_and_split(
    corpus: Path, tokenizer: Tokenizer, held_out: float
) -> tuple[Tokens, dict[str, Any]]:
    """The corpus as ids, its last `held_out` part of the tokens held out; and the counts.

    Raises UserError if a split would have fewer than two tokens.
    """
    text = read_text(corpus)
    ids = encode(text, tokenizer)
    n_train = int(len(ids) * (1 - held_out))
    train, held = ids[:n_train], ids[n_train:]
    if len(train) < 2 or len(held) < 2:
        raise UserError(
            f"{corpus}: {len(ids)} tokens cannot be split into training and held-out tokens;"
            " use a longer text"
        )
    # GPT-2's printable form has one character for each byte that a token stands for.
    lengths = np.array([len(tokenizer.id_to_token(i) or "") for i in range(ids.max() + 1)])
    tokens = Tokens(
        torch.from_numpy(train),
        torch.from_numpy(held),
        tokenizer.get_vocab_size(),
        int(lengths[held[1:]].sum()),
        sha256_of(corpus),
    )
    counts = {
        "sha256": tokens.corpus_sha256,
        "characters": len(text),
        "bytes": len(text.encode()),
        "vocab_size": tokens.vocab_size,
        "tokens": len(ids),
        "characters_per_token": len(text) / len(ids),
        "training_tokens": len(train),
        "held_out_tokens": len(held),
        "held_out_bytes": int(lengths[held].sum()),
    }
    return tokens, counts


def encode(text: str, tokenizer: Tokenizer) -> np.ndarray:
    """Ids of the whole text, as int64.

    The library keeps a word and two offsets for every token of what it encodes at once, so it gets
    a stretch at a time, cut where GPT-2's pattern cuts as well.
    """
    found = [np.zeros(0, dtype=np.int64)]
    start = 0
    while start < len(text):
        cut = _CUT.search(text, start + STRETCH)
        end = cut.start() if cut else len(text)
        found.append(np.array(tokenizer.encode(text[start:end]).ids, dtype=np.int64))
        start = end
    return np.concatenate(found)
