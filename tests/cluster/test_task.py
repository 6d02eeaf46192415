"""What a worker does, without Dask: a toy stage in a toy repository."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remeasure.pipeline.cluster.task import md5_of, perform

WORK = """
import json, os, pathlib, sys, time
how = sys.argv[1]
if how == "fails":
    sys.exit("it cannot")
if how == "starves":
    sys.exit("RuntimeError: CUDA out of memory")
if how == "killed":
    os.kill(os.getpid(), 9)
if how == "hangs":
    time.sleep(60)
if how == "edits":
    pathlib.Path("data.txt").write_text("other")
if how != "silent":
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES")
    told = {"data": pathlib.Path("data.txt").read_text(), "gpu": gpu}
    pathlib.Path("out.json").write_text(json.dumps(told))
"""
DATA = b"what an earlier stage made"
PARAMS = b"toy: {rate: 1e-3}\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A request without a command, and all that a worker may lack."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "work.py").write_text(WORK)
    (folder / "params.yaml").write_bytes(PARAMS)
    (folder / "out.json").write_text("an old result")
    (folder / "note.json").write_text("an old note")
    who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init",), ("add", "--all"), ("commit", "-m", "toy")):
        subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
    subprocess.run(
        ["git", "bundle", "create", "toy.bundle", "HEAD"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    bundle = (folder / "toy.bundle").read_bytes()
    request = {
        "attempt": "1",
        "commit": head.stdout.strip(),
        "bundle": md5_of(bundle),
        "files": {
            "work.py": md5_of(WORK.encode()),
            "params.yaml": md5_of(PARAMS),
            "data.txt": md5_of(DATA),
        },
        "params": {"params.yaml": {"toy.rate": 0.001}},
        "outputs": ["out.json"],
        "notes": ["note.json"],
        "variables": {},
        "gpu": None,
        "versions": {},
        "seconds": 30,
        "most_bytes": 1000,
    }
    return request, {md5_of(bundle): bundle, md5_of(DATA): DATA}


Made = tuple[dict[str, Any], dict[str, bytes]]


def run(made: Made, folder: Path, how: str, **changes: Any) -> dict[str, Any]:
    """The toy's stage with everything at hand."""
    request, contents = made
    asked = {**request, "command": f"python work.py {how}", **changes}
    return perform(asked, contents, str(folder), lambda _: True)


def test_what_is_lacking_is_asked_for_once(made: Made, tmp_path: Path) -> None:
    request, contents = made
    asked = {**request, "command": "python work.py well"}
    bundle, data = request["bundle"], md5_of(DATA)
    for given, lacks in (({}, [bundle]), ({bundle: contents[bundle]}, [data])):
        reply = perform(asked, given, str(tmp_path), lambda _: True)
        assert reply == {"outcome": "lacks", "lacks": lacks}
    assert perform(asked, {data: DATA}, str(tmp_path), lambda _: True)["outcome"] == "done"
    assert perform(asked, {}, str(tmp_path), lambda _: True)["outcome"] == "done"
    assert not list(tmp_path.rglob("task-*"))


def test_a_reply_has_an_entry_as_in_dvc_lock(made: Made, tmp_path: Path) -> None:
    reply = run(made, tmp_path, "well")
    assert json.loads(reply["files"]["out.json"])["data"] == DATA.decode()
    assert list(reply["files"]) == ["out.json"], "an old note is no note of this run"
    assert reply["entry"] == {
        "commit": made[0]["commit"],
        "cmd": "python work.py well",
        "deps": made[0]["files"],
        "params": {"params.yaml": {"toy.rate": 0.001}},
        "outs": {"out.json": md5_of(reply["files"]["out.json"])},
    }
    assert reply["seconds"].keys() == {"prepare", "command", "gather"}


@pytest.mark.parametrize(
    ("how", "outcome", "reason"),
    [
        ("fails", "failed", "exit code 1"),
        ("silent", "failed", "it did not write out.json"),
        ("killed", "starved", "killed by signal 9"),
        ("starves", "starved", "RuntimeError: CUDA out of memory"),
    ],
)
def test_how_it_ends(made: Made, tmp_path: Path, how: str, outcome: str, reason: str) -> None:
    reply = run(made, tmp_path, how)
    assert (reply["outcome"], reply["reason"]) == (outcome, reason)
    assert not list(tmp_path.rglob("task-*"))


def test_the_log_of_a_failure_comes_back(made: Made, tmp_path: Path) -> None:
    assert run(made, tmp_path, "fails")["log"] == ["it cannot"]


def test_limits(made: Made, tmp_path: Path) -> None:
    late = run(made, tmp_path, "hangs", seconds=0.5)
    assert (late["outcome"], late["reason"]) == ("starved", "it went beyond the time limit")
    large = run(made, tmp_path, "well", most_bytes=10)
    assert large["outcome"] == "failed"
    assert large["reason"].endswith("bytes; at most 10 travel")


def test_it_ends_when_nobody_waits(made: Made, tmp_path: Path) -> None:
    request, contents = made
    asked = {**request, "command": "python work.py hangs"}
    reply = perform(asked, contents, str(tmp_path), lambda _: False)
    assert (reply["outcome"], reply["reason"]) == ("starved", "nobody waits for it")


def test_an_input_edited_by_the_stage_shows_in_the_entry(made: Made, tmp_path: Path) -> None:
    assert run(made, tmp_path, "edits")["entry"]["deps"]["data.txt"] == md5_of(b"other")


def test_what_is_not_as_asked_is_refused(made: Made, tmp_path: Path) -> None:
    values = {"params.yaml": {"toy.rate": 0.002}}
    reply = run(made, tmp_path, "well", params=values)
    assert reply == {
        "outcome": "refused",
        "reason": "params.yaml: toy.rate is not what was asked for",
    }


def test_what_decayed_on_a_worker_is_asked_for_again(made: Made, tmp_path: Path) -> None:
    assert run(made, tmp_path, "well")["outcome"] == "done"
    kept = tmp_path / "remeasure" / "objects" / md5_of(DATA)
    kept.write_bytes(b"decayed")
    asked = {**made[0], "command": "python work.py well"}
    reply = perform(asked, {}, str(tmp_path), lambda _: True)
    assert reply == {"outcome": "lacks", "lacks": [md5_of(DATA)]}


def test_other_packages_and_damaged_contents(made: Made, tmp_path: Path) -> None:
    reply = run(made, tmp_path, "well", versions={"numpy": "0.1"})
    assert reply["outcome"] == "unfit"
    assert reply["reason"].endswith("0.1 is needed")
    reply = run(made, tmp_path, "well", versions={"no-such-package": "1"})
    assert reply == {"outcome": "unfit", "reason": "it has no no-such-package; 1 is needed"}
    request, _ = made
    damaged = {request["bundle"]: b"cut short"}
    asked = {**request, "command": "python work.py well"}
    reply = perform(asked, damaged, str(tmp_path), lambda _: True)
    assert reply["outcome"] == "starved"
    assert "arrived damaged" in reply["reason"]


@pytest.mark.parametrize(
    ("seen", "gpu", "shown"), [(None, 1, "1"), ("4,6", 1, "6"), ("4,6", 0, "4"), ("7", None, "7")]
)
def test_a_stage_is_shown_one_gpu(
    made: Made,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seen: str | None,
    gpu: int | None,
    shown: str,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if seen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
    reply = run(made, tmp_path, "well", gpu=gpu)
    assert json.loads(reply["files"]["out.json"])["gpu"] == shown


def test_the_module_needs_nothing_of_this_project() -> None:
    source = Path(sys.modules[perform.__module__].__file__ or "").read_text()
    assert "remeasure." not in source.replace("`remeasure.", "")
