"""The DVC remote as it really is: what lies there, and how things get there and back.

Three kinds of file lie there. Objects, named after their MD5; entries of the run cache, which say
what a command made of which inputs; both as DVC has them. And, beside each entry, how it was
measured, which DVC knows nothing of. DVC's own transfers end well although files are missing, and
remember what was there once; here a file that did not arrive is an error.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo import Repo
from dvc_objects.fs import generic
from dvc_objects.fs.local import localfs

from remeasure.errors import UserError
from remeasure.pipeline.environment import dvc, environment
from remeasure.records.files import replacing

NAME = "share"
"""What a remote is called that was given as an address."""
RUNS, PROVENANCE = "runs", "provenance"


def choose(address: str) -> None:
    """Make a remote the default one of this clone (in .dvc/config.local, which is not in git).

    `address` is a folder, an address such as s3://bucket/folder or ssh://host/folder, or the name
    of a remote that DVC knows. Raises UserError if DVC will not have it.
    """
    if address in Repo(".").config["remote"]:
        words = ["default", "--local", address]
    else:
        words = ["add", "--local", "--force", "--default", NAME, address]
    done = subprocess.run(
        [*dvc(), "remote", *words],
        env=environment(Path()),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UserError(f"--remote: {reason.removeprefix('ERROR: ')}")


class Remote:
    """The default remote of a DVC repository; `repo` is DVC's."""

    def __init__(self, repo: Any) -> None:
        name = repo.config["core"].get("remote")
        if name is None:
            raise UserError(
                "no remote is set; give its address the first time:"
                " make push REMOTE=/a/folder, s3://bucket/folder or ssh://host/folder"
            )
        remote = repo.cloud.get_remote(name)
        self._fs, self._root, self._objects = remote.fs, remote.path, remote.odb
        self._cache = repo.cache.local
        self.address: str = repo.config["remote"][name]["url"]

    def send_objects(self, oids: set[str]) -> int:
        """Send the objects of DVC's cache that are not there yet, and look whether all arrived.

        Returns how many were sent. Raises UserError if any is not there afterwards.
        """
        absent = oids - self._whole(oids)
        self._transfer(self._cache, self._objects, absent)
        lost = absent - self._whole(absent)
        if lost:
            raise UserError(
                f"{self.address}: {len(lost)} of {len(oids)} objects did not arrive,"
                f" {min(lost)} for one; run it again"
            )
        return len(absent)

    def fetch_objects(self, oids: set[str]) -> None:
        """Fetch what DVC's cache lacks; what is not there, or damaged there, stays missing."""
        absent = {oid for oid in oids if not self._cache.exists(oid)}
        self._transfer(self._objects, self._cache, self._there(absent))

    def entries(self) -> set[str]:
        """The run cache's entries there: "KEY/VALUE", inputs and outputs as DVC hashes them."""
        folder = self._fs.join(self._root, RUNS)
        if not self._fs.exists(folder):
            return set()
        return {"/".join(self._fs.parts(path)[-2:]) for path in self._fs.find(folder)}

    def send_entry(self, entry: str, source: Path) -> None:
        """Send an entry of the run cache."""
        self._send(self._path(RUNS, entry), source)

    def fetch_entry(self, entry: str, target: Path) -> None:
        """Fetch an entry of the run cache."""
        self._fetch(self._path(RUNS, entry), target)

    def send_provenance(self, entry: str, source: Path) -> None:
        """Send how an entry was measured, unless that is there: who measured first has the say."""
        path = self._path(PROVENANCE, entry)
        if not self._fs.exists(path):
            self._send(path, source)

    def fetch_provenance(self, entry: str, target: Path) -> None:
        """Fetch how an entry was measured, if that is there."""
        path = self._path(PROVENANCE, entry)
        if self._fs.exists(path):
            self._fetch(path, target)

    def _there(self, oids: set[str]) -> set[str]:
        """Those of the objects that are there now, whatever DVC remembers."""
        return set(self._objects.oids_exist(oids)) if oids else set()

    def _whole(self, oids: set[str]) -> set[str]:
        """Those that are there in full length: a transfer over SSH that is killed leaves a part."""
        there = sorted(self._there(oids))
        sizes = self._fs.sizes([self._objects.oid_to_path(oid) for oid in there])
        ours = [os.path.getsize(self._cache.oid_to_path(oid)) for oid in there]
        return {oid for oid, size, our in zip(there, sizes, ours, strict=True) if size == our}

    def _transfer(self, source: Any, target: Any, oids: set[str]) -> None:
        """Copy objects as they are; what cannot be copied is told and left out."""

        def tell(oid: str, error: BaseException) -> None:
            print(f"{oid}: {type(error).__name__}: {_first_line(error)}", file=sys.stderr)

        target.add(
            [source.oid_to_path(oid) for oid in sorted(oids)],
            source.fs,
            sorted(oids),
            check_exists=False,
            verify=target is self._cache,
            on_error=tell,
        )

    def _path(self, kind: str, entry: str) -> str:
        path: str = self._fs.join(self._root, kind, entry[:2], *entry.split("/"))
        return path

    def _send(self, path: str, source: Path) -> None:
        self._fs.makedirs(self._fs.parent(path), exist_ok=True)
        generic.copy(localfs, str(source), self._fs, path)

    def _fetch(self, path: str, target: Path) -> None:
        with replacing(target) as temporary:
            generic.copy(self._fs, path, localfs, str(temporary))


@contextlib.contextmanager
def remote_errors() -> Iterator[None]:
    """In the block, whatever a remote raises becomes a UserError of one line.

    Each kind of remote raises the exceptions of its own library, which have no class in common.
    """
    try:
        yield
    except UserError:
        raise
    except DvcException as error:
        raise UserError(f"the remote cannot be used: {_first_line(error)}") from None
    except Exception as error:
        reason = f"{type(error).__name__}: {_first_line(error)}"
        raise UserError(f"the remote cannot be reached: {reason}") from None


def _first_line(error: BaseException) -> str:
    """What an exception says, in one line."""
    return (str(error).strip().splitlines() or ["no reason given"])[0]
