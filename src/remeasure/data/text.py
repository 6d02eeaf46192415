"""The corpus as a file on this machine: its text and its checksum."""

import hashlib
from pathlib import Path

from remeasure.errors import UserError


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1024 * 1024):
            digest.update(chunk)
    return digest.hexdigest()


def read_text(path: Path) -> str:
    """The text as it is, line ends untouched. Raises UserError if it is no UTF-8 or missing."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: not found; 'dvc repro download' fetches it") from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: is not UTF-8 text (byte {error.start}); convert it to UTF-8 first"
        ) from None
