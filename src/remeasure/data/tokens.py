"""The tokenized corpus: training and held-out ids as one file of arrays.

Shapes: N tokens of a split.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from remeasure.errors import UserError
from remeasure.records.files import replacing


@dataclass(frozen=True)
class Tokens:
    """The corpus as token ids, split once and for all."""

    train_N: Tensor
    held_out_N: Tensor
    vocab_size: int
    held_out_bytes: int
    """UTF-8 bytes of the held-out tokens that are predicted: all but the first."""
    corpus_sha256: str


def save_tokens(path: Path, tokens: Tokens) -> None:
    """Write the arrays, atomically; the same tokens give the same bytes."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            train=tokens.train_N.numpy().astype(np.uint16),
            held_out=tokens.held_out_N.numpy().astype(np.uint16),
            vocab_size=np.int64(tokens.vocab_size),
            held_out_bytes=np.int64(tokens.held_out_bytes),
            corpus_sha256=np.frombuffer(tokens.corpus_sha256.encode(), dtype=np.uint8),
        )


def load_tokens(path: Path) -> Tokens:
    """Read the arrays, ids as int64. Raises UserError if the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            tokens = Tokens(
                torch.from_numpy(arrays["train"].astype(np.int64)),
                torch.from_numpy(arrays["held_out"].astype(np.int64)),
                int(arrays["vocab_size"]),
                int(arrays["held_out_bytes"]),
                arrays["corpus_sha256"].tobytes().decode(),
            )
    except FileNotFoundError:
        raise UserError(f"{path}: not found; 'dvc repro tokenize' makes it") from None
    except Exception as error:  # zipfile, zlib and numpy raise many kinds for damaged bytes
        raise UserError(
            f"{path}: damaged ({type(error).__name__}); 'dvc repro --force tokenize' makes it anew"
        ) from None
    largest = max(_largest(tokens.train_N), _largest(tokens.held_out_N))
    if largest >= tokens.vocab_size:
        raise UserError(f"{path}: damaged (token {largest} of {tokens.vocab_size}); make it anew")
    return tokens


def _largest(ids_N: Tensor) -> int:
    return int(ids_N.max()) if len(ids_N) else -1
