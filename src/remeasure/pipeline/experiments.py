"""DVC's queue of experiments: what waits in it, how one is unpacked, how its result comes back.

DVC's own workers race (iterative/dvc#10673), so only what one process does by itself is used here:
an experiment is unpacked into a folder of its own, as `dvc exp run --temp` does it, with a git
repository of its own and the cache of this one; what it becomes is fetched with git.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvc.lock import LockError
from dvc.repo import Repo
from dvc.repo.experiments.executor.base import ExecutorInfo
from dvc.repo.experiments.executor.local import TempDirExecutor
from dvc.repo.experiments.refs import CELERY_STASH
from dvc.repo.experiments.utils import get_exp_rwlock

from remeasure import paths
from remeasure.errors import UserError

SECONDS_FOR_LOCK = 60.0
INFO = "experiment.run"


@dataclass(frozen=True)
class Queued:
    """An experiment that waits."""

    name: str
    stash: str
    """The commit that holds its parameters and the working tree that it was queued from."""
    copied: tuple[str, ...]
    """Untracked files and folders that it takes along (`--copy-paths`)."""


def queued() -> list[Queued]:
    """What waits, the oldest first."""
    queue = Repo(".").experiments.celery_queue
    found = []
    for message, entry in queue._iter_queued():
        _, options, _ = message.decode()
        copied = tuple(options.get("copy_paths") or ())
        found.append(Queued(entry.name or entry.stash_rev[:7], entry.stash_rev, copied))
    return found


def unpack(experiment: Queued, folder: Path) -> Path:
    """Make the experiment's project in a new folder below `folder`; its root.

    Checkpoints of an earlier attempt in `folder` go over to the new one.
    """
    kept = folder.with_name(f"{folder.name}-checkpoints")
    for left in folder.glob(f"*/{paths.CHECKPOINTS}"):
        shutil.rmtree(kept, ignore_errors=True)
        left.rename(kept)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    repo = Repo(".")
    with _stash_locked(repo):
        entry = repo.experiments.celery_queue.stash.stash_revs[experiment.stash]
    executor = TempDirExecutor.from_stash_entry(repo, entry, wdir=str(folder.resolve()))
    info = str((folder / INFO).resolve())
    executor.init_git(repo, repo.scm, experiment.stash, entry, info, branch=entry.branch)
    executor.init_cache(repo, experiment.stash)
    executor.scm.close()
    root = Path(executor.root_dir, executor.dvc_dir).parent
    if kept.exists():
        kept.rename(root / paths.CHECKPOINTS)
    return root


def command(experiment: Queued, folder: Path) -> list[str]:
    """DVC's words that run what was unpacked in `folder`."""
    copied = [word for path in experiment.copied for word in ("--copy-paths", path)]
    return ["experiments", "exec-run", "--infofile", str((folder / INFO).resolve()), *copied]


def has_result(folder: Path) -> bool:
    """Whether the experiment in `folder` ran to its end and is committed there."""
    return (folder / INFO).is_file() and ExecutorInfo.load_json(str(folder / INFO)).result_ref


def collect(experiment: Queued, folder: Path) -> None:
    """Bring the result from `folder` here, then take the experiment off the queue.

    In this order, and each may be done twice: whatever stops this in between, nothing is lost.
    Raises UserError if another experiment of this name is here already.
    """
    info = ExecutorInfo.load_json(str(folder / INFO))
    ref, sign = info.result_ref, "+" if info.result_force else ""
    done = subprocess.run(
        ["git", "fetch", "--no-tags", info.root_dir, f"{sign}{ref}:{ref}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip() or "unknown error").splitlines()[-1].strip()
        raise UserError(
            f"{experiment.name}: its result cannot be brought here ({reason});"
            " if another experiment has this name, 'dvc exp rename' that and run again"
        )
    repo = Repo(".")
    with _stash_locked(repo):
        repo.experiments.celery_queue.remove([experiment.stash])
    shutil.rmtree(folder)


@contextmanager
def _stash_locked(repo: Any) -> Iterator[None]:
    """DVC's lock on its queue, waited for: another `dvc exp run --queue` may hold it."""
    deadline = time.monotonic() + SECONDS_FOR_LOCK
    while True:
        try:
            with get_exp_rwlock(repo, writes=[CELERY_STASH]):
                yield
            return
        except LockError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
