"""The corpus as a file on this machine."""

from pathlib import Path

from remeasure.errors import UserError


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
