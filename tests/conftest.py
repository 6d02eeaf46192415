"""What tests share: the repository's root, its parameters, a small corpus of token ids."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from remeasure.data.tokens import Tokens
from remeasure.params.model import ModelSpec
from remeasure.params.reading import check, read_params
from remeasure.training import numerics

sys.path.append(str(Path(__file__).parent))

import tiny

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def params() -> dict[str, Any]:
    """The committed params.yaml."""
    return read_params(ROOT / "params.yaml")


@pytest.fixture(scope="session")
def small_spec(params: dict[str, Any]) -> ModelSpec:
    """The chapter's block made small."""
    return check(ModelSpec, {**params["base"], "d_model": 16, "context": 12}, "small")


@pytest.fixture(scope="session")
def small_tokens() -> Tokens:
    """A text with something to learn: a noisy cycle over 17 tokens."""
    generator = torch.Generator().manual_seed(0)
    noise_N = torch.randint(0, 3, (3000,), generator=generator)
    ids_N = (torch.arange(3000) * 3 + noise_N) % 17
    return Tokens(ids_N[:2700], ids_N[2700:], 17, 600, "0" * 64)


@pytest.fixture(scope="session")
def measured_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny copy of the project in which everything is measured; take a copy of it to change."""
    folder = tiny.make_tiny(tmp_path_factory.mktemp("measured") / "tiny")
    done = tiny.run(folder, "dvc", "repro")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; the tests that need it are skipped where there is none."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on PATH: apt-get install chromium fonts-dejavu")
    from playwright.sync_api import sync_playwright

    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=sandbox)
        yield launched
        launched.close()


@pytest.fixture(autouse=True)
def _process_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What training sets for its whole process must not reach the next test.

    Hypothesis needs denormal numbers, and the memory tests a C library that gives memory back.
    """
    monkeypatch.setattr(numerics, "_keep_freed_memory", lambda: None)
    yield
    torch.set_flush_denormal(False)
