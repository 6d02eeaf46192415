"""A tiny copy of the project in git, as a cluster needs it, and a cluster on the loopback."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny

sys.path.append(str(Path(__file__).parent))

from loopback import Loopback


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything committed, nothing run; take a copy of it to work in."""
    folder = tiny.make_tiny(tmp_path_factory.mktemp("committed") / "tiny")
    shutil.copy(tiny.ROOT / ".gitignore", folder)
    tiny.git(folder, "init", "--quiet")
    tiny.git(folder, "add", "--all")
    tiny.git(folder, "commit", "--quiet", "--message", "tiny")
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
