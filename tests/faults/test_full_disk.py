"""A disk that is really full: a tmpfs of a few megabytes, filled to the last byte or nearly.

One line and an exit code say so, and when space is free again the same command ends the work.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny

from remeasure.errors import UserError
from remeasure.pipeline.integrity import check_kept

pytestmark = [pytest.mark.faults, pytest.mark.slow]

REPRO = "remeasure.pipeline.repro"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of six megabytes. Skipped where mounting is not allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount command here")
    if done.returncode:
        pytest.skip(f"cannot mount a small disk here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """Write a file until nothing but `leave` bytes is free."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    os.truncate(filler, filler.stat().st_size - leave)
    return filler


@pytest.mark.parametrize("leave", [0, 16384, 32768])
def test_a_full_working_folder(small_disk: Path, leave: int) -> None:
    folder = tiny.make_tiny(small_disk / "tiny")
    assert tiny.run(folder, "dvc", "repro", "train_bpe").returncode == 0
    before = (folder / "data/tokenizer.json").read_bytes()
    filler = fill(small_disk, leave)
    done = tiny.run(folder, REPRO, "tokenize")
    print(done.stderr)
    assert done.returncode != 0
    assert "no space left on the disk" in done.stderr or "failed to reproduce" in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "data/tokenizer.json").read_bytes() == before
    filler.unlink()
    done = tiny.run(folder, REPRO, "tokenize")
    assert done.returncode == 0, done.stderr
    assert "up to date" in tiny.run(folder, "dvc", "status", "tokenize").stdout
    assert (folder / "metrics/corpus.json").is_file()


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("full", ["", "files", "files/md5/{first}"])
def test_a_full_cache(small_disk: Path, tmp_path: Path, jobs: str, full: str) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    text = tiny.TEXT.encode() * 30
    tiny.put_corpus(folder, text)
    # The full disk holds all of the cache, its objects, or the folder of the text's own object.
    link = folder / ".dvc/cache" / full.format(first=hashlib.md5(text).hexdigest()[:2])
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(small_disk)
    filler = fill(small_disk, 100_000)
    done = tiny.run(folder, REPRO, "--jobs", jobs, "train_bpe")
    print(done.stdout, done.stderr)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    filler.unlink()
    done = tiny.run(folder, REPRO, "--jobs", jobs, "train_bpe")
    assert done.returncode == 0, done.stderr
    assert "up to date" in tiny.run(folder, "dvc", "status", "train_bpe").stdout
    assert (folder / "data/corpus.txt").read_bytes() == text


def test_objects_missing_after_an_end_with_success_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    assert tiny.run(folder, "dvc", "repro", "train_bpe").returncode == 0
    monkeypatch.chdir(folder)
    check_kept(["train_bpe"])
    md5 = hashlib.md5((folder / "data/corpus.txt").read_bytes()).hexdigest()
    (folder / ".dvc/cache/files/md5" / md5[:2] / md5[2:]).unlink()
    with pytest.raises(UserError, match="download: ran, but DVC could not keep what it made"):
        check_kept(["train_bpe"])
