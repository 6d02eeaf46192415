"""What a worker does: one stage, in a scratch clone of the commit, with inputs by content hash.

This module travels to the worker by value, so that it does not matter what is installed there; it
therefore imports nothing of this project. A request, contents and a reply are plain mappings, text
and bytes. Checksums are MD5, as in dvc.lock.
"""

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

TOPIC = "remeasure"
"""Of Dask's events: under it a task says that it is alive and how far it is."""
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_EVENTS = 1.0
SECONDS_TO_STOP = 10.0
LOG_LINES_KEPT = 30
STARVED = ("MemoryError", "out of memory", "can't allocate memory", "no space left on the disk")
"""What a stage's last words say where the machine, not the stage, is at fault."""

Reply = dict[str, Any]
Tell = Callable[[dict[str, Any]], bool]
"""Hears how far a task is; whether anybody still waits for it."""


def perform(
    request: Mapping[str, Any],
    contents: Mapping[str, bytes],
    folder: str | None = None,
    tell: Tell | None = None,
) -> Reply:
    """Run one stage and return its outputs with an entry as dvc.lock would have it.

    `contents` are a bundle and files by checksum; what the worker still lacks is named in a reply
    with the outcome `lacks`. Everything stays below `folder` and `tell` hears of it (None: those of
    the Dask worker that this runs in); the scratch clone is removed. Other outcomes: `done`;
    `failed`, the stage's own fault; `starved`, `unfit` and `refused`, this machine's.
    """
    unfit = _unfit(request["versions"])
    if unfit:
        return {"outcome": "unfit", "reason": unfit}
    home = Path(folder or _worker().local_directory) / "remeasure"
    started = time.monotonic()
    try:
        for md5, content in contents.items():
            _keep(home / "objects" / md5, content)
        commit = home / "commits" / request["commit"]
        lacks = _lacks(request, home / "objects", commit)
        if lacks:
            return {"outcome": "lacks", "lacks": lacks}
        with tempfile.TemporaryDirectory(prefix="task-", dir=home) as made:
            root = _scratch(request, home / "objects", commit, Path(made))
            wrong = _not_as_asked(request, root)
            if wrong:
                return {"outcome": "refused", "reason": wrong}
            prepared = time.monotonic()
            reply = _run(request, root, Path(made), tell or _tell_dask)
            ended = time.monotonic()
            if reply["outcome"] == "done":
                reply |= _gather(request, root)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        return {"outcome": "starved", "reason": f"could not prepare: {said.strip()}"}
    reply["seconds"] = {
        "prepare": prepared - started,
        "command": ended - prepared,
        "gather": time.monotonic() - ended,
    }
    return reply


def md5_of(content: bytes) -> str:
    """As DVC writes it in dvc.lock."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _unfit(versions: Mapping[str, str]) -> str:
    """Which package is missing here or another; what follows + is a build, not a version."""
    for name, wanted in versions.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            return f"it has no {name}; {wanted} is needed"
        if found.partition("+")[0] != wanted.partition("+")[0]:
            return f"it has {name} {found}; {wanted} is needed"
    return ""


def _keep(path: Path, content: bytes) -> None:
    """Several tasks may keep the same content at once: each writes aside and renames."""
    if md5_of(content) != path.name:
        raise OSError(f"{path.name}: arrived damaged")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def _lacks(request: Mapping[str, Any], objects: Path, commit: Path) -> list[str]:
    """Checksums of what is neither in the commit nor kept whole; first of all the commit itself."""
    if not commit.is_dir():
        bundle = objects / request["bundle"]
        if _md5(bundle) != request["bundle"]:
            return [request["bundle"]]
        _unbundle(bundle, request["commit"], commit)
    wanted = request["files"].items()
    return sorted(
        {md5 for path, md5 in wanted if md5 not in (_md5(commit / path), _md5(objects / md5))}
    )


def _unbundle(bundle: Path, revision: str, commit: Path) -> None:
    """The commit as a working tree that no stage runs in: tasks clone it."""
    commit.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="clone-", dir=commit.parent) as made:
        fresh = Path(made) / "clone"
        _git("clone", "--quiet", "--no-checkout", str(bundle), str(fresh))
        _git("-C", str(fresh), "checkout", "--quiet", "--detach", revision)
        try:
            fresh.rename(commit)
        except OSError:
            if not commit.is_dir():
                raise


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True, text=True)


def _md5(path: Path) -> str | None:
    """None if there is no such file."""
    return md5_of(path.read_bytes()) if path.is_file() else None


def _scratch(request: Mapping[str, Any], objects: Path, commit: Path, folder: Path) -> Path:
    """A clone of the commit without the stage's results and with the files that were asked for."""
    root = folder / "project"
    _git("clone", "--quiet", "--shared", str(commit), str(root))
    for path in (*request["outputs"], *request["notes"]):
        (root / path).unlink(missing_ok=True)
    for path, md5 in request["files"].items():
        if _md5(root / path) != md5:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(objects / md5, root / path)
    return root


def _not_as_asked(request: Mapping[str, Any], root: Path) -> str:
    """The first file or parameter that is not as the request has it; empty if all are."""
    for path, md5 in request["files"].items():
        if _md5(root / path) != md5:
            return f"{path} is not what was asked for"
    found = _params(request, root)
    for file, values in request["params"].items():
        for address, value in values.items():
            if found[file][address] != value:
                return f"{file}: {address} is not what was asked for"
    return ""


def _params(request: Mapping[str, Any], root: Path) -> dict[str, dict[str, Any]]:
    """The values at the addresses that were asked for, as they stand here; None if absent."""
    from ruamel.yaml import YAML

    found = {}
    for file, wanted in request["params"].items():
        content = YAML(typ="safe", pure=True).load((root / file).read_text(encoding="utf-8"))
        found[file] = {address: _at(content, address) for address in wanted}
    return found


def _at(content: Any, address: str) -> Any:
    for key in address.split("."):
        content = content.get(key) if isinstance(content, Mapping) else None
    return content


def _run(request: Mapping[str, Any], root: Path, folder: Path, tell: Tell) -> Reply:
    """The stage's command to its end, its time limit, or until nobody waits for it any more."""
    log, progress = folder / "log", folder / "progress.json"
    variables = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": str((root / "src").resolve()),
        "PYTHONUNBUFFERED": "1",
        "DVC_NO_ANALYTICS": "1",
        "REMEASURE_PROGRESS": str(progress.resolve()),
        **request["variables"],
        **_device(request["gpu"]),
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            shlex.split(request["command"]),
            cwd=root,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + request["seconds"]
    try:
        stopped = _watch(process, request["attempt"], progress, deadline, tell)
    finally:
        _stop(process)
    return _outcome(process.returncode, stopped, log)


def _device(gpu: int | None) -> dict[str, str]:
    """The variable that shows a stage one of the GPUs that this worker sees; none if None."""
    if gpu is None:
        return {}
    seen = [each for each in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if each]
    return {"CUDA_VISIBLE_DEVICES": seen[gpu] if gpu < len(seen) else str(gpu)}


def _watch(
    process: subprocess.Popen[bytes], attempt: str, progress: Path, deadline: float, tell: Tell
) -> str | None:
    """Tell the coordinator how far it is, to its end; the reason if it must end before."""
    told = 0.0
    while process.poll() is None:
        now = time.monotonic()
        if now > deadline:
            return "it went beyond the time limit"
        if now - told >= SECONDS_BETWEEN_EVENTS:
            told = now
            if not tell({"attempt": attempt, "state": _state(progress)}):
                return "nobody waits for it"
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return None


def _state(progress: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(progress.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
    return state


def _tell_dask(event: dict[str, Any]) -> bool:
    """As an event of Dask, which knows whether the client has left or given the task to another."""
    worker = _worker()
    worker.log_event(TOPIC, event)
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state not in ("cancelled", "resumed")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the command and all that it started, politely first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def _outcome(code: int, stopped: str | None, log: Path) -> Reply:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES_KEPT:]
    starved = next((line for line in lines for sign in STARVED if sign in line), None)
    if stopped:
        return {"outcome": "starved", "reason": stopped, "log": lines}
    if code < 0:
        return {"outcome": "starved", "reason": f"killed by signal {-code}", "log": lines}
    if code and starved:
        return {"outcome": "starved", "reason": starved.strip(), "log": lines}
    if code:
        return {"outcome": "failed", "reason": f"exit code {code}", "log": lines}
    return {"outcome": "done", "log": lines}


def _gather(request: Mapping[str, Any], root: Path) -> Reply:
    """What the stage wrote, and the entry that says from what."""
    missing = [path for path in request["outputs"] if not (root / path).is_file()]
    if missing:
        return {"outcome": "failed", "reason": f"it did not write {', '.join(missing)}"}
    notes = [path for path in request["notes"] if (root / path).is_file()]
    written = [*request["outputs"], *notes]
    size = sum((root / path).stat().st_size for path in written)
    if size > request["most_bytes"]:
        reason = f"it wrote {size:,} bytes; at most {request['most_bytes']:,} travel"
        return {"outcome": "failed", "reason": reason}
    files = {path: (root / path).read_bytes() for path in written}
    return {"files": files, "entry": _entry(request, root, files)}


def _entry(request: Mapping[str, Any], root: Path, files: Mapping[str, bytes]) -> dict[str, Any]:
    """As in dvc.lock, with the commit. Every checksum is taken anew, after the command."""
    return {
        "commit": request["commit"],
        "cmd": request["command"],
        "deps": {path: _md5(root / path) for path in request["files"]},
        "params": _params(request, root),
        "outs": _checksums(request["outputs"], files),
    }


def _checksums(paths: Sequence[str], files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: md5_of(files[path]) for path in paths}
