"""stages/probe.py: every probe runs, and a second run gives the bytes of the first."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from remeasure import paths
from remeasure.data.tokens import Tokens, save_tokens
from remeasure.errors import ParameterError
from remeasure.params.probes import PROBES

READS_TEXT = {"parameters", "gradient_norms", "residual_stream"}


@pytest.fixture
def stage(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    small_probe_params: dict[str, Any],
    small_tokens: Tokens,
) -> Callable[[list[str]], None]:
    """The script's main function, in a folder with small parameters and a small text."""
    monkeypatch.chdir(tmp_path)
    YAML().dump(small_probe_params, paths.PARAMS)
    save_tokens(paths.TOKENS, small_tokens)
    main: Callable[[list[str]], None] = runpy.run_path(str(root / "stages/probe.py"))["main"]
    return main


@pytest.mark.parametrize("name", PROBES)
def test_two_runs_give_the_same_bytes(
    stage: Callable[[list[str]], None], name: str, small_tokens: Tokens
) -> None:
    written = paths.metrics("probes", name)
    stage([name])
    first = written.read_bytes()
    stage([name])
    assert written.read_bytes() == first
    protocol = json.loads(first)["protocol"]
    assert protocol["corpus"] == (small_tokens.corpus_sha256 if name in READS_TEXT else None)
    assert protocol["fraction"] == 1
    assert paths.provenance("probes", name).is_file()


def test_an_unknown_name_writes_nothing(stage: Callable[[list[str]], None], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'real_text' is no probe"):
        stage(["real_text"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "params.yaml"]
