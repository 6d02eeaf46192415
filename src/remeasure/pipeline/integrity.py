"""What DVC takes on trust, looked at: files damaged behind its back, and objects it failed to keep.

DVC hashes a file again only if its time or size changed, never hashes a read-only object of its
cache again, and ends with success although a full disk kept it from caching a result.
"""

import json
import os
import re
from pathlib import Path

from dvc.repo import Repo

from remeasure.errors import UserError
from remeasure.pipeline.git import md5_of
from remeasure.pipeline.stages import outputs, stale_among

OBJECT = re.compile(r"[0-9a-f]{30}(\.dir)?")
"""An object's name in its folder, which has the first two digits. Other files there stay."""


def distrust_damaged() -> list[str]:
    """Let DVC see what is damaged; returns a line about each such file.

    Damaged objects are removed from the cache, and so is DVC's note of running commands if a full
    disk cut it short. A result that is not what dvc.lock says gets the present time, so that DVC
    looks at its content and makes it anew.
    """
    repo = Repo(".")
    lines = []
    running = Path(repo.tmp_dir) / "rwlock"
    if not _is_json(running):
        running.unlink()
        lines.append(f"{running.name}: DVC's note of running commands was cut short; removed")
    for path in _damaged_objects(Path(repo.cache.local.path)):
        path.unlink()
        lines.append(f"{path.parent.name}{path.name}: damaged in DVC's cache; removed")
    for file, recorded in outputs().items():
        path = Path(file)
        if path.is_file() and md5_of(path.read_bytes()) != recorded:
            os.utime(path)
            lines.append(f"{path}: is not what dvc.lock says; its stage runs again")
    return lines


def check_kept(targets: list[str]) -> None:
    """Raises UserError if, after a run that ended well, stages still count as not run."""
    left = sorted(stale_among(targets))
    if left:
        raise UserError(
            f"{', '.join(left)}: ran, but DVC could not keep what it made; usually a disk is full"
            " (see 'failed to transfer' above): free some space, run again"
        )


def _is_json(path: Path) -> bool:
    """Whether a file can be read as JSON, or is not there."""
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return True
    except ValueError:
        return False
    return True


def _damaged_objects(cache: Path) -> list[Path]:
    """Objects whose content is not the checksum that they are named after."""
    found = []
    for path in sorted(cache.glob("[0-9a-f][0-9a-f]/*")):
        named = path.parent.name + path.name.removesuffix(".dir")
        if OBJECT.fullmatch(path.name) and md5_of(path.read_bytes()) != named:
            found.append(path)
    return found
