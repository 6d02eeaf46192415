"""What git knows of this working tree. Where there is no git, nothing is known."""

import hashlib
import subprocess
from pathlib import Path
from typing import Any

MEASURING = ("src", "stages", "params.yaml", "dvc.yaml")
"""What a result depends on, besides its data."""


def commit() -> dict[str, Any]:
    """The commit at hand, and whether what measures was changed since, as provenance has it."""
    revision = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--", *MEASURING)
    return {
        "revision": revision.decode().strip() if revision else None,
        "uncommitted_changes": bool(changes),
    }


def md5_of(content: bytes) -> str:
    """As DVC writes it in dvc.lock and names the objects of its cache."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def version_with(path: str, md5: str) -> bytes | None:
    """The content with this checksum that the file had in some commit; None if it never had."""
    if Path(path).is_file() and md5_of(Path(path).read_bytes()) == md5:
        return Path(path).read_bytes()
    revisions = _git("log", "--all", "--format=%H", "--", path) or b""
    for revision in revisions.decode().split():
        content = _git("show", f"{revision}:./{path}")
        if content is not None and md5_of(content) == md5:
            return content
    return None


def _git(*words: str) -> bytes | None:
    try:
        return subprocess.run(["git", *words], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
