"""A second machine restores what the first measured, and is told what it cannot have."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny
from dvc.repo import Repo

from remeasure.errors import UserError
from remeasure.pipeline import share
from remeasure.pipeline.remote import Remote, choose

PIPELINE = """
stages:
  data:
    cmd: python work.py data.txt
    deps: [work.py]
    outs: [data.txt]
  train:
    foreach: {a: {}, b: {}}
    do:
      cmd: python work.py ${key}.json
      deps: [work.py, data.txt]
      metrics:
      - ${key}.json: {cache: false}
  page:
    cmd: python work.py page.html figures/one.svg
    deps: [work.py, a.json, b.json]
    outs:
    - page.html: {cache: false}
    - figures: {cache: false}
"""
WORK = """
import pathlib, sys
if pathlib.Path("forbidden").exists():
    sys.exit("a stage ran")
for name in sys.argv[1:]:
    file = pathlib.Path(name)
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'"{name}"')
entry = pathlib.Path(sys.argv[1]).stem
if entry in "ab":
    note = pathlib.Path(f"provenance/train/{entry}.json")
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("{}")
"""
MADE = ("data.txt", "a.json", "b.json", "page.html", "figures/one.svg")


def dvc(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dvc", *words],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def make_toy(folder: Path) -> Path:
    """A toy pipeline; nothing has run."""
    (folder / ".dvc").mkdir(parents=True)
    (folder / ".dvc" / "config").write_text(
        "[core]\n    no_scm = true\n    analytics = false\n    check_update = false\n"
    )
    (folder / "dvc.yaml").write_text(PIPELINE)
    (folder / "work.py").write_text(WORK)
    return folder


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy with every stage run; no test changes it."""
    toy = make_toy(tmp_path_factory.mktemp("share") / "measured")
    assert dvc(toy, "repro").returncode == 0
    return toy


@pytest.fixture
def first(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first machine."""
    monkeypatch.syspath_prepend(str(tiny.ROOT / "src"))
    return Path(shutil.copytree(measured, tmp_path / "first"))


@pytest.fixture
def second(tmp_path: Path) -> Path:
    """The second machine, on which a stage that runs fails."""
    toy = make_toy(tmp_path / "second")
    (toy / "forbidden").touch()
    return toy


Share = Callable[..., str]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Share:
    """`share`'s command in a folder, with the remote of this test; what it printed."""

    def call(folder: Path, *words: str) -> str:
        monkeypatch.chdir(folder)
        (folder / ".dvc/config.local").write_text(
            f"[core]\n    remote = lab\n['remote \"lab\"']\n    url = {tmp_path / 'remote'}\n"
        )
        share.main([*words])
        return capsys.readouterr().out

    return call


def objects(remote: Path, folder: Path, file: str) -> list[Path]:
    """The remote's objects with the content of a file."""
    content = (folder / file).read_bytes()
    return [path for path in remote.glob("files/md5/*/*") if path.read_bytes() == content]


def damage(file: Path, content: bytes) -> None:
    """Change a protected object; DVC takes one on trust as long as its rights are as they were."""
    file.chmod(0o644)
    file.write_bytes(content)
    file.chmod(0o444)


def test_a_second_machine_restores_everything_and_runs_nothing(
    first: Path, second: Path, run: Share
) -> None:
    (first / "provenance/train/a.json").write_text('{"processor": "of the first"}')
    assert "4 stages are there" in run(first, "push")
    assert "4 stages restored, 0 as they were" in run(second, "pull")
    for file in (*MADE, "provenance/train/a.json"):
        assert (second / file).read_bytes() == (first / file).read_bytes()
    assert "up to date" in dvc(second, "repro").stdout
    assert "0 objects, 0 runs new" in run(second, "push")


def test_plain_dvc_restores_it_too(first: Path, second: Path, tmp_path: Path, run: Share) -> None:
    run(first, "push")
    shutil.copy(first / ".dvc/config.local", second / ".dvc/config.local")
    done = dvc(second, "repro", "--pull")
    assert done.returncode == 0, done.stderr
    assert (second / "a.json").read_bytes() == (first / "a.json").read_bytes()


def test_what_plain_dvc_leaves_out_is_noticed_and_then_mended(
    first: Path, second: Path, tmp_path: Path, run: Share
) -> None:
    remote = tmp_path / "remote"
    assert dvc(first, "remote", "add", "lab", str(remote)).returncode == 0
    assert dvc(first, "push", "--run-cache", "-r", "lab").returncode == 0
    assert not objects(remote, first, "a.json")
    with pytest.raises(UserError, match=r"knows of train@a, train@b, but does not have"):
        run(second, "pull")
    assert (second / "data.txt").exists()
    assert not (second / "a.json").exists()
    run(first, "push")
    assert "3 stages restored, 1 as they were" in run(second, "pull")


def test_results_that_came_with_git_are_shared(
    first: Path, second: Path, tmp_path: Path, run: Share
) -> None:
    shutil.rmtree(first / ".dvc/cache/runs")
    for kept in objects(first / ".dvc/cache", first, "a.json"):
        kept.unlink()
    run(first, "push")
    assert "4 stages restored" in run(second, "pull")


def test_what_is_stale_stays_behind_and_what_is_not_there_is_named(
    first: Path, second: Path, run: Share
) -> None:
    (first / "b.json").unlink()
    assert "2 are not up to date and stay behind: page, train@b" in run(first, "push")
    shutil.rmtree(first / ".dvc/cache/runs")
    tiny.edit(second / "dvc.yaml", "{a: {}, b: {}}", "{a: {}, c: {}}")
    tiny.edit(second / "dvc.yaml", "b.json]", "c.json]")
    said = run(second, "pull")
    assert "2 stages restored" in said
    assert "'make repro' runs them: train@c" in said
    assert "that need what is missing: page" in said


@pytest.mark.parametrize("kept", [0, 3])
def test_an_object_that_is_lost_or_cut_on_the_remote_is_noticed_and_sent_again(
    first: Path, second: Path, tmp_path: Path, run: Share, kept: int
) -> None:
    run(first, "push")
    (lost,) = objects(tmp_path / "remote", first, "a.json")
    if kept:
        damage(lost, lost.read_bytes()[:kept])
    else:
        lost.unlink()
    with pytest.raises(UserError, match=r"knows of train@a, but"):
        run(second, "pull")
    assert "1 objects, 0 runs new" in run(first, "push")
    assert "2 stages restored" in run(second, "pull")


def test_a_damaged_object_is_not_used(
    first: Path, second: Path, tmp_path: Path, run: Share
) -> None:
    run(first, "push")
    (damaged,) = objects(tmp_path / "remote", first, "data.txt")
    damage(damaged, bytes(reversed(damaged.read_bytes())))
    with pytest.raises(UserError, match=r"knows of data, but does not have"):
        run(second, "pull")
    assert not (second / "data.txt").exists()


def test_a_damaged_result_is_not_sent(first: Path, tmp_path: Path, run: Share) -> None:
    (first / "a.json").write_text('"A.json"')
    said = run(first, "push")
    assert "a.json: is not what dvc.lock says" in said
    assert not objects(tmp_path / "remote", first, "a.json")


def test_objects_that_do_not_arrive_are_an_error(
    first: Path, tmp_path: Path, run: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remeasure.pipeline.remote.Remote._transfer", lambda *words: None)
    with pytest.raises(UserError, match="6 of 6 objects did not arrive"):
        run(first, "push")
    assert not list((tmp_path / "remote").rglob("runs/*/*/*"))


@pytest.mark.parametrize(
    ("remote", "said"),
    [
        ("gopher://host/folder", "--remote: "),
        ("ssh://127.0.0.1:1/folder", "the remote cannot be reached: "),
    ],
)
def test_a_remote_that_cannot_be_is_refused_in_one_line(
    first: Path, run: Share, remote: str, said: str
) -> None:
    with pytest.raises(UserError) as raised:
        run(first, "push", "--remote", remote)
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


def test_a_remote_given_once_is_kept_by_address_and_by_name(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(first)
    choose("../elsewhere")
    assert Remote(Repo(".")).address == str(tmp_path / "elsewhere")
    dvc(first, "remote", "add", "lab", "../remote")
    choose("lab")
    assert Remote(Repo(".")).address == str(tmp_path / "remote")


def test_without_a_remote_it_says_how_to_give_one(
    first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(first)
    with pytest.raises(UserError, match=r"make push REMOTE="):
        share.main(["push"])


def test_the_real_stages_train_nothing_on_a_second_machine(
    measured_copy: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tiny.make_tiny(tmp_path / "second")
    shutil.copytree(measured_copy, first)
    words = ("--remote", str(tmp_path / "remote"))
    assert tiny.run(first, "remeasure.pipeline.share", "push", *words).returncode == 0
    # PYTHONPATH has this folder first: a stage that wants to train ends here.
    (second / "src" / "torch.py").write_text("raise RuntimeError('a stage trains')\n")
    done = tiny.run(second, "remeasure.pipeline.share", "pull", *words)
    assert done.returncode == 0, done.stderr
    done = tiny.run(second, "remeasure.pipeline.repro")
    assert done.returncode == 0, done.stderr
    assert "Running stage" not in done.stdout
    assert tiny.results(second) == tiny.results(first)
    for name in ("plain.json", "deep.json"):
        assert tiny.provenance(second, name) == tiny.provenance(first, name)
