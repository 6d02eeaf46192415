"""A tiny copy of the project in git, as a cluster needs it, and a cluster on the loopback."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny

sys.path.append(str(Path(__file__).parent))

from loopback import Loopback


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything committed, nothing run; take a copy of it to work in."""
    folder = tiny.make_tiny(tmp_path_factory.mktemp("committed") / "tiny")
    shutil.copy(tiny.ROOT / ".gitignore", folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "tiny")
    return folder


@pytest.fixture(scope="session")
def tokenized(committed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its tokens made."""
    folder = tmp_path_factory.mktemp("tokenized") / "tiny"
    shutil.copytree(committed, folder)
    done = tiny.run(folder, "dvc", "repro", "tokenize")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def loopback(tmp_path: Path) -> Iterator[Loopback]:
    """No process yet; those that a test starts are ended."""
    started = Loopback(tmp_path / "dask")
    yield started
    started.close()
