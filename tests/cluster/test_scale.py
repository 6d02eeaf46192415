"""What the coordinator itself takes where ablations are a thousand; prints what docs tell."""

import time
from pathlib import Path

import pytest
import tiny

from remeasure.pipeline.cluster.asking import Bundle, errand
from remeasure.pipeline.cluster.recording import Recorder, Result
from remeasure.pipeline.stages import load_stages

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.timeout(900)]

ABLATIONS, RESULTS = 1000, 100


def test_a_hundred_results_among_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    many = {f"many_{number}": {"budget": "standard"} for number in range(ABLATIONS)}
    tiny.change_params(folder, ablations=many)
    (folder / "data").mkdir()
    (folder / "data/tokens.npz").touch()
    monkeypatch.chdir(folder)
    clock = time.monotonic()
    stages = load_stages()
    print(f"reading the pipeline: {time.monotonic() - clock:.1f} s")
    bundle, recorder = Bundle("0" * 40, b"", ""), Recorder(stages)
    results = []
    for number in range(RESULTS):
        name = f"ablation@many_{number}"
        request = errand(stages[name], bundle, seconds=1, threads=1).request
        files = {path: f"{{{number}: 0}}".encode() for path in request["outputs"]}
        results.append(Result(request, files))
    clock = time.monotonic()
    assert not any(recorder.record(results).values())
    seconds = time.monotonic() - clock
    print(f"recording {RESULTS} results: {seconds:.1f} s")
    assert seconds < 300
