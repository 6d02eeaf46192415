"""A thousand ablations in params.yaml, none trained: DVC, ledger, reconfirm stay usable."""

import shutil
import time
from pathlib import Path

import pytest
import tiny

from remeasure.params.reading import read_yaml
from remeasure.pipeline.demo import merged

pytestmark = [pytest.mark.faults, pytest.mark.slow]

ABLATIONS = 1000
LIMITS = {
    "dvc status": (300, ("dvc", "status")),
    "one stage, dry": (
        300,
        ("dvc", "repro", "--dry", "--allow-missing", "--single-item", "ablation@many_7"),
    ),
    "reconfirm": (300, ("remeasure.pipeline.reconfirm", "ablation@many_7")),
    "ledger": (60, ("remeasure.ledger",)),
    "affected": (60, ("remeasure.ledger", "affected", "src/remeasure/ops/attention.py")),
}
"""Seconds that are allowed, and the command."""


@pytest.mark.timeout(1800)
def test_a_thousand_ablations(tmp_path: Path) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    for name in ("dvc.yaml", "params.yaml", "claims.yaml", "dvc.lock"):
        shutil.copy2(tiny.ROOT / name, folder / name)
    for name in ("metrics", "plots", "provenance"):
        shutil.copytree(tiny.ROOT / name, folder / name)
    many = {f"many_{number}": {"budget": "short", "n_heads": 1} for number in range(ABLATIONS)}
    params = merged(read_yaml(folder / "params.yaml"), {"ablations": many})
    tiny.write_yaml(folder / "params.yaml", params)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/tokens.npz").touch()
    for what, (limit, words) in LIMITS.items():
        start = time.monotonic()
        done = tiny.run(folder, *words)
        seconds = time.monotonic() - start
        print(f"{what}: {seconds:.1f} s, exit code {done.returncode}")
        print(done.stdout[-300:], done.stderr[-500:])
        assert seconds < limit
        assert "Traceback" not in done.stderr
        assert done.returncode == 0, done.stderr
