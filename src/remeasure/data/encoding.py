"""Text to token ids, and the one split into training and held-out tokens."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from remeasure.data.text import read_text
from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.records.files import sha256_of


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
    ids = np.array(tokenizer.encode(text).ids, dtype=np.int64)
    n_train = int(len(ids) * (1 - held_out))
    train, held = ids[:n_train], ids[n_train:]
    if len(train) < 2 or len(held) < 2:
        raise UserError(
            f"{corpus}: {len(ids)} tokens cannot be split into training and held-out tokens;"
            " use a longer text"
        )
    predicted_bytes = len(_text_of(tokenizer, ids)) - len(_text_of(tokenizer, ids[: n_train + 1]))
    tokens = Tokens(
        torch.from_numpy(train),
        torch.from_numpy(held),
        tokenizer.get_vocab_size(),
        predicted_bytes,
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
        "held_out_bytes": len(text.encode()) - len(_text_of(tokenizer, train)),
    }
    return tokens, counts


def _text_of(tokenizer: Tokenizer, ids: np.ndarray) -> str:
    """One character for each byte the tokens stand for (GPT-2's printable form of bytes)."""
    vocabulary = tokenizer.id_to_token
    return "".join(vocabulary(int(token)) or "" for token in ids)
