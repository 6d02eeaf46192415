"""A change of code, in a tiny copy under git: what left the results alone costs no training.

Also `verify`, which trains such a result again and compares.
"""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny

pytestmark = pytest.mark.slow

CONFIG = "[core]\n    analytics = false\n    check_update = false\n"
LOOP = Path("src/remeasure/training/loop.py")
LANGUAGE = Path("src/remeasure/experiments/language.py")
METRICS = Path("metrics/ablations/plain.json")


def git(folder: Path, *words: str) -> str:
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(
        ["git", *name, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def committed(measured_copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The measured copy, under git."""
    folder = tmp_path_factory.mktemp("git") / "tiny"
    shutil.copytree(measured_copy, folder)
    (folder / ".dvc" / "config").write_text(CONFIG)
    (folder / ".gitignore").write_text("/data/\n/models/\n/checkpoints/\n__pycache__/\n/.dvc/tmp\n")
    (folder / ".dvc" / ".gitignore").write_text("/config.local\n/tmp\n/cache\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "measured")
    return folder


@pytest.fixture
def project(committed: Path, tmp_path: Path) -> Path:
    """One to change."""
    shutil.copytree(committed, tmp_path / "tiny")
    return tmp_path / "tiny"


def refactor(folder: Path) -> None:
    tiny.edit(
        folder / LOOP,
        "    return budget.learning_rate\n",
        "    constant = budget.learning_rate\n    return constant\n",
    )


def constant(folder: Path) -> None:
    tiny.edit(folder / LOOP, "fused=True)", "fused=True, eps=1e-7)")


def final_measurement(folder: Path) -> None:
    tiny.edit(
        folder / LANGUAGE,
        "tokens.train_N[: len(held_out_N)]",
        "tokens.train_N[1 : len(held_out_N)]",
    )


def parameter(folder: Path) -> None:
    tiny.change_params(folder, ablations={"plain": {"n_heads": 4}})
    refactor(folder)


def text(folder: Path) -> None:
    refactor(folder)
    tokens = folder / "data" / "tokens.npz"
    content = tokens.read_bytes()
    tokens.unlink()
    tokens.write_bytes(content + b"\0")


def metrics(folder: Path) -> None:
    refactor(folder)
    content = (folder / METRICS).read_text()
    (folder / METRICS).write_text(content.replace("1", "2", 1))


def test_a_harmless_change_is_reconfirmed_and_noted(project: Path) -> None:
    measured_at = git(project, "rev-parse", "HEAD")
    before = (project / METRICS).read_bytes()
    refactor(project)
    git(project, "commit", "-qam", "refactor")
    done = tiny.run(project, "remeasure.pipeline.reconfirm", "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("plain", "deep"):
        assert f"ablation@{name}: reconfirmed (bit for bit" in done.stdout
    status = tiny.run(project, "dvc", "status", "ablation").stdout
    assert "up to date" in status
    assert (project / METRICS).read_bytes() == before
    found = tiny.provenance(project, "plain.json")
    assert found["threads"] == 1
    (note,) = found["reconfirmed"]
    assert note["commit"] == {
        "revision": git(project, "rev-parse", "HEAD"),
        "uncommitted_changes": False,
    }
    assert note["commit"]["revision"] != measured_at
    assert note["changed"] == [str(LOOP)]
    assert note["bitwise"]
    assert note["against_old_source"]
    assert git(project, "status", "--porcelain").split() == [
        "M",
        "dvc.lock",
        "M",
        "provenance/ablations/deep.json",
        "M",
        "provenance/ablations/plain.json",
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (constant, "stays stale: step 2, seed 0: batch_loss was 5."),
        (final_measurement, "stays stale: after 50 steps its record's training.perplexity.mean"),
        (parameter, "stays stale: params changed: ablations.plain.n_heads was absent, is 4"),
        (text, "stays stale: data changed: data/tokens.npz is modified"),
        (metrics, f"stays stale: refused: {METRICS} is not what was recorded"),
    ],
)
def test_anything_else_stays_stale_and_says_why(
    project: Path, change: Callable[[Path], None], reason: str
) -> None:
    change(project)
    lock = (project / "dvc.lock").read_bytes()
    done = tiny.run(project, "remeasure.pipeline.reconfirm", "ablation@plain")
    assert done.returncode == 1
    assert reason in done.stdout
    assert done.stderr.count("\n") == 1
    assert "1 stay stale: ablation@plain" in done.stderr
    assert (project / "dvc.lock").read_bytes() == lock
    assert "reconfirmed" not in tiny.provenance(project, "plain.json")


def round_otherwise(folder: Path) -> None:
    """Make the committed curve that of a machine with other rounding, for DVC and git as well."""
    curve = folder / "plots/ablations/plain.csv"
    lines = curve.read_text().splitlines()
    cells = lines[2].split(",")
    cells[2] = repr(float(cells[2]) * (1 + 1e-7))
    curve.write_text("\n".join([*lines[:2], ",".join(cells), *lines[3:]]) + "\n")
    assert tiny.run(folder, "dvc", "commit", "-f", "ablation@plain").returncode == 0
    git(folder, "commit", "-qam", "measured elsewhere")


def test_the_old_source_tells_another_machine_from_another_program(project: Path) -> None:
    round_otherwise(project)
    refactor(project)
    words = ("remeasure.pipeline.reconfirm", "ablation@plain")
    config = project / ".dvc" / "config"
    shutil.move(project / ".git", project / "git")
    config.write_text(CONFIG + "    no_scm = true\n")
    done = tiny.run(project, *words)
    assert done.returncode == 1
    assert "stays stale: step 1, seed 0: batch_loss was" in done.stdout
    shutil.move(project / "git", project / ".git")
    config.write_text(CONFIG)
    done = tiny.run(project, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reconfirmed (within rounding, and as the source that measured)" in done.stdout
    (note,) = tiny.provenance(project, "plain.json")["reconfirmed"]
    assert not note["bitwise"]


def test_verifying_trains_again_and_writes_nothing(project: Path) -> None:
    state = tiny.results(project)
    done = tiny.run(project, "remeasure.pipeline.verify", "plain")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("bitwise equal: 60 steps and the record\n")
    done = tiny.run(project, "remeasure.pipeline.verify", "plain", "--steps", "20")
    assert done.stdout.endswith("bitwise equal: 20 steps\n")
    constant(project)
    done = tiny.run(project, "remeasure.pipeline.verify", "plain")
    assert done.returncode == 0
    assert "equal within rounding growth: 60 steps and the record; the curves part" in done.stdout
    assert "at step 2, seed 0: batch_loss was" in done.stdout
    assert "processor, threads and versions are named as on record" in done.stdout
    tiny.edit(project / LOOP, "eps=1e-7", "weight_decay=1.0")
    done = tiny.run(project, "remeasure.pipeline.verify", "ablation@plain")
    assert done.returncode == 1
    assert "different: the curves part at step 2, seed 0" in done.stdout
    assert tiny.results(project) == state
    assert git(project, "status", "--porcelain").split() == ["M", str(LOOP)]
