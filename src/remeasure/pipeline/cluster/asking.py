"""What a stage needs to run elsewhere: its command, its files by checksum, its parameters."""

import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dvc.dependency.param import ParamsDependency

from remeasure.errors import UserError
from remeasure.params.reading import read_params, section
from remeasure.pipeline.cluster.task import md5_of
from remeasure.pipeline.git import MEASURING
from remeasure.records.provenance import provenance_of

MOST_BYTES = 64 * 1024 * 1024
"""What one stage may send back; each file also passes through this machine's memory."""
VERSIONS_OF = ("torch", "numpy", "tokenizers")
"""Packages in which a worker must be as this machine is: other versions give other numbers."""

Request = dict[str, Any]


@dataclass(frozen=True)
class Bundle:
    """A commit with its history, as git packs it, and the checksum under which it travels."""

    revision: str
    content: bytes
    md5: str


@dataclass(frozen=True)
class Errand:
    """A request, and the content of its files by checksum, for a worker that lacks some."""

    request: Request
    sources: Mapping[str, Path]

    def content(self, md5: str, bundle: Bundle) -> bytes:
        """What has this checksum. Raises UserError if the file has become another one."""
        if md5 == bundle.md5:
            return bundle.content
        content = self.sources[md5].read_bytes()
        if md5_of(content) != md5:
            raise UserError(f"{self.sources[md5]}: was changed while its stage was out")
        return content


def pack() -> Bundle:
    """The commit at hand. Raises UserError where there is no git repository with its root here."""
    if _git("rev-parse", "--show-cdup") != "":
        raise UserError("--cluster: sends a commit; run it at the root of a git repository")
    revision = _git("rev-parse", "HEAD")
    if revision is None:
        raise UserError("--cluster: sends a commit, and there is none yet; git commit first")
    with tempfile.TemporaryDirectory(prefix="remeasure-") as folder:
        file = Path(folder) / "bundle"
        if _git("bundle", "create", "--quiet", str(file), "HEAD") is None:
            raise UserError("--cluster: 'git bundle create' failed; is this a shallow clone?")
        content = file.read_bytes()
    return Bundle(revision, content, md5_of(content))


def measuring(stages: Iterable[Any]) -> list[str]:
    """The paths that must be as the commit has them: all that stages read, results excepted."""
    results = {str(out) for stage in stages for out in stage.outs}
    read = {str(dep) for stage in stages for dep in stage.deps}
    return sorted({*MEASURING, *(path for path in read if not _inside(path, results))})


def uncommitted(paths: Sequence[str]) -> str:
    """Those of the paths that differ from the commit, with what to do; empty if none does."""
    changes = _git("status", "--porcelain", "--untracked-files=all", "--", *paths) or ""
    changed = [line[2:].strip() for line in changes.splitlines()]
    if not changed:
        return ""
    return f"{', '.join(changed)}: not as committed; git commit (or git restore) first"


def errand(stage: Any, bundle: Bundle, *, seconds: float, threads: int) -> Errand:
    """What to ask for a stage as things stand here and now. Raises UserError if a file is missing.

    Neither an attempt nor a device is named yet.
    """
    sources: dict[str, Path] = {}
    files: dict[str, str] = {}
    values: dict[str, dict[str, Any]] = {}
    for dep in stage.deps:
        path = Path(str(dep))
        try:
            md5 = md5_of(path.read_bytes())
        except FileNotFoundError:
            raise UserError(f"{path}: not found; {stage.addressing} needs it") from None
        if isinstance(dep, ParamsDependency):
            params = _params(path, md5)
            values[str(path)] = {address: section(params, address) for address in dep.params}
        files[str(path)], sources[md5] = md5, path
    request = {
        "stage": stage.addressing,
        "commit": bundle.revision,
        "bundle": bundle.md5,
        "command": stage.cmd,
        "files": files,
        "params": values,
        "outputs": sorted(str(out) for out in stage.outs),
        "notes": [str(provenance_of(stage.addressing))],
        "attempt": "",
        "gpu": None,
        "variables": {"OMP_NUM_THREADS": str(threads)},
        "versions": {name: version(name) for name in VERSIONS_OF},
        "seconds": seconds,
        "most_bytes": MOST_BYTES,
    }
    return Errand(request, sources)


@lru_cache(maxsize=1)
def _params(path: Path, md5: str) -> dict[str, Any]:
    """Read once while its content stays: with many stages that takes long."""
    return read_params(path)


def _inside(path: str, folders: set[str]) -> bool:
    """Whether a path is a result, lies in one, or is a folder of results."""
    return any(
        path == each or path.startswith(f"{each}/") or each.startswith(f"{path}/")
        for each in folders
    )


def _git(*words: str) -> str | None:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.strip("\n")
