"""One flipped byte, with and without a new time on the file: found and made anew, never used."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest
import tiny

pytestmark = pytest.mark.faults

REPRO = "remeasure.pipeline.repro"


def flip(path: Path, *, silently: bool) -> None:
    """Change one bit in the middle; a decaying disk leaves time, size and rights as they were."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(bytes(content))
    path.chmod(before.st_mode)
    if silently:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def cached(folder: Path, file: str) -> Path:
    """DVC's object of a result."""
    md5 = hashlib.md5((folder / file).read_bytes()).hexdigest()
    return folder / ".dvc/cache/files/md5" / md5[:2] / md5[2:]


@pytest.fixture(scope="module")
def tokenized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny copy with corpus, tokenizer and tokens; no test leaves it other than it was."""
    folder = tiny.make_tiny(tmp_path_factory.mktemp("damage") / "tiny")
    done = tiny.run(folder, "dvc", "repro", "tokenize")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("silently", [False, True])
@pytest.mark.parametrize(
    "file", ["data/corpus.txt", "data/tokenizer.json", "data/tokens.npz", "metrics/corpus.json"]
)
def test_a_damaged_file_is_made_anew(tokenized: Path, file: str, silently: bool) -> None:
    before = tiny.results(tokenized)
    flip(tokenized / file, silently=silently)
    assert tiny.results(tokenized) != before
    done = tiny.run(tokenized, REPRO, "tokenize")
    assert done.returncode == 0, done.stderr
    assert f"{file}: is not what dvc.lock says" in done.stdout
    assert tiny.results(tokenized) == before


@pytest.mark.slow
@pytest.mark.parametrize("silently", [False, True])
def test_a_damaged_object_of_the_cache_is_never_used(tokenized: Path, silently: bool) -> None:
    before = tiny.results(tokenized)
    flip(cached(tokenized, "data/corpus.txt"), silently=silently)
    (tokenized / "data/corpus.txt").unlink()
    done = tiny.run(tokenized, REPRO, "tokenize")
    assert done.returncode == 0, done.stderr
    assert "damaged in DVC's cache; removed" in done.stdout
    assert "Running stage 'download'" in done.stdout
    assert tiny.results(tokenized) == before


@pytest.mark.slow
def test_damaged_results_of_training_are_made_anew(measured_copy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(measured_copy, folder)
    before = tiny.results(folder)
    flip(cached(folder, "models/model.safetensors"), silently=True)
    for file in ("models/model.safetensors", "metrics/ablations/plain.json"):
        flip(folder / file, silently=True)
    done = tiny.run(folder, REPRO)
    assert done.returncode == 0, done.stderr
    assert "Running stage 'train'" in done.stdout
    assert tiny.results(folder) == before
