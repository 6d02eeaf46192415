"""What every command does around its work: errors for people, and the record of how it ran."""

import ctypes
import errno
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from remeasure import STARTED_BY
from remeasure.errors import UserError
from remeasure.params.reading import check_name, read_params, section
from remeasure.records.files import sha256_of, write_json

PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process receives when its parent dies (prctl(2))."""

VERSIONS_OF = ("torch", "tokenizers", "numpy", "dvc")


def run_command(main: Callable[[list[str]], None]) -> None:
    """Run `main` with the command line's words; a user's mistake ends in one line, not a traceback.

    Exit codes: that of the UserError (2 for parameters, 1 otherwise), 1 for a full disk, 130 for
    ctrl-C.
    """
    try:
        main(sys.argv[1:])
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = error.filename or "the working folder"
        print(f"error: no space left on the disk at {where}; free some, run again", file=sys.stderr)
        sys.exit(1)


def run_stage(main: Callable[[list[str]], None]) -> None:
    """`run_command` for what DVC runs: it ends when DVC is killed.

    It would otherwise go on training and write over what its successor writes.
    """
    die_with_parent()
    run_command(main)


def die_with_parent(parent: int = STARTED_BY) -> None:
    """Ask Linux to end this process when its parent dies; elsewhere nothing happens.

    The signal is SIGTERM: DVC ignores SIGINT while its command runs, and so does what a shell
    started in the background. A parent that died before this call is noticed too.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)


def one_name(words: Sequence[str], usage: str) -> str:
    """The single word of a command line, a name. Raises UserError, with the usage, otherwise."""
    if len(words) != 1:
        raise UserError(f"usage: {usage}")
    return check_name(words[0], usage)


@dataclass
class Run:
    """What `recorded` is told about a run while it goes on."""

    seconds_before: float = 0.0
    """Spent by earlier processes, killed since, on what this one took up where they were."""


@contextmanager
def recorded(provenance: Path, reads: Sequence[Path], params: Sequence[str]) -> Iterator[Run]:
    """Note how, where and when the block ran in the file `provenance`.

    `reads` are files and `params` addresses in params.yaml that the block depends on. If one of
    them, or the project's own source, is not the same at the end as at the start, what was measured
    belongs to no recorded state: raises UserError, and the provenance is not written.
    """
    before = _state(reads, params)
    started, clock = datetime.now(UTC), time.perf_counter()
    run = Run()
    yield run
    seconds = time.perf_counter() - clock + run.seconds_before
    after = _state(reads, params)
    changed = sorted(key for key, value in before.items() if after.get(key) != value)
    if changed:
        raise UserError(
            f"changed while this stage ran: {', '.join(changed)}; its results belong to neither"
            " state and are not used; run it again"
        )
    write_json(
        provenance,
        {
            "started": started.isoformat(timespec="seconds"),
            "wall_seconds": round(seconds, 1),
            "commit": _commit(),
            "machine": _machine(),
            "threads": _threads(),
            "versions": _versions(),
        },
    )


def _state(reads: Sequence[Path], params: Sequence[str]) -> dict[str, str]:
    source = [
        Path(file)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("remeasure", "__main__")
        and (file := getattr(module, "__file__", None))
    ]
    files = {str(path): _digest(path) for path in [*source, *reads]}
    content = read_params() if params else {}
    values = {f"params.yaml: {key}": json.dumps(section(content, key)) for key in params}
    return files | values


def _digest(path: Path) -> str:
    try:
        return sha256_of(path)
    except FileNotFoundError:
        return "missing"


def _commit() -> dict[str, Any]:
    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", *words], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    changes = git("status", "--porcelain", "--", "src", "stages", "params.yaml", "dvc.yaml")
    return {"revision": git("rev-parse", "HEAD"), "uncommitted_changes": bool(changes)}


def _machine() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    gpu = torch.cuda.get_device_name() if torch and torch.cuda.is_available() else None
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "model": _processor_model(),
        "cores": os.cpu_count(),
        "gpu": gpu,
    }


def _processor() -> str:
    return _cpuinfo("model name") or platform.processor()


def _processor_model() -> dict[str, str | None]:
    """What the name leaves open: clouds call many processors the same."""
    torch = sys.modules.get("torch")
    found: dict[str, str | None] = {
        key.replace(" ", "_"): _cpuinfo(key) for key in ("cpu family", "model", "stepping")
    }
    found["instructions"] = torch.backends.cpu.get_cpu_capability() if torch else None
    return found


def _cpuinfo(key: str) -> str | None:
    """The first value of a key in Linux's /proc/cpuinfo; None elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return next((value.strip() for name, value in pairs if name.strip() == key), None)


def _threads() -> int | None:
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if torch else None


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in VERSIONS_OF:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
