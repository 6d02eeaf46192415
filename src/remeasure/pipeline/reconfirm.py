"""`make reconfirm`: results that a change of code left as they were count again, without training.

Usage: python -m remeasure.pipeline.reconfirm [--jobs N] [STAGE ...]

Takes the stages that train and are stale through code alone, runs the first steps of each seed anew
and holds them against the recorded curve. Where git still has the source that measured, that runs
here as well: the two must give one curve and one record to the last bit, what is only measured
after the training included, and the recorded curve may be apart by rounding, as on another machine.
Where git has it not, a machine of the same kind must give the recorded curve to the last bit. What
agrees is recorded as up to date (`dvc commit`) and noted in the stage's provenance; the rest stays
stale, and a line says why. A change that acts only after these steps is not seen.
"""

import argparse
import hashlib
import os
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import yaml

from remeasure import paths
from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.ledger.pins import DIGESTS
from remeasure.params.reading import read_params
from remeasure.pipeline import git
from remeasure.pipeline.check import check_all
from remeasure.pipeline.curves import Difference, differences, read_curve
from remeasure.pipeline.environment import dvc, environment
from remeasure.pipeline.jobs import check_jobs
from remeasure.pipeline.rerun import (
    FAMILIES,
    Rerun,
    family_of,
    read_provenance,
    recorded_threads,
    rerun,
    same_kind,
    shortened,
)
from remeasure.pipeline.stages import CODE, Drift, drifts, leaves
from remeasure.records.files import read_json, write_json

FIRST_STEPS = 50
"""As many as training keeps in full precision, with an evaluation after them."""
LOCK_FILE = Path("dvc.lock")


class StaysStaleError(Exception):
    """Why a stage cannot be reconfirmed, in one line."""


@dataclass(frozen=True)
class Agreement:
    """How a rerun agreed with what is on record."""

    bitwise: bool
    against_old_source: bool

    def __str__(self) -> str:
        how = "bit for bit" if self.bitwise else "within rounding"
        old = "and as the source that measured" if self.against_old_source else "old source lost"
        return f"{how}, {old}"


def main(words: list[str]) -> None:
    """Read the command line, reconfirm what can be; UserError if a result stays stale."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.reconfirm")
    parser.add_argument("--jobs", type=int, default=1, help="stages side by side")
    parser.add_argument("stages", nargs="*", help="such as ablation@one_block; all if none")
    options = parser.parse_args(words)
    check_jobs(options.jobs)
    params = read_params()
    check_all(params)
    known = drifts(tuple(FAMILIES))
    for name in options.stages:
        if name not in known:
            raise UserError(f"{name}: no stage that trains; there are: {', '.join(known)}")
    chosen = [known[name] for name in options.stages or known]
    stale = [drift for drift in chosen if drift.measured and drift.stale]
    never = sum(not drift.measured for drift in chosen)
    print(
        f"{len(chosen)} stages: {len(chosen) - len(stale) - never} up to date,"
        f" {len(stale)} stale, {never} never measured",
        flush=True,
    )
    left = _reconfirm(stale, params, options.jobs)
    if left:
        raise UserError(f"{len(left)} stay stale: {', '.join(left)}; 'make repro' measures anew")


def _reconfirm(stale: list[Drift], params: Mapping[str, Any], jobs: int) -> list[str]:
    """The names of those that stay stale, after a line about each."""
    one_at_a_time = Lock()
    left = []
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_one, drift, params, one_at_a_time): drift.name for drift in stale}
        for count, future in enumerate(as_completed(waiting), 1):
            name = waiting[future]
            try:
                outcome = f"reconfirmed ({future.result()})"
            except (StaysStaleError, UserError) as reason:
                outcome = f"stays stale: {reason}"
                left.append(name)
            print(f"[{count} of {len(stale)}] {name}: {outcome}", flush=True)
    return sorted(left)


def _one(drift: Drift, params: Mapping[str, Any], one_at_a_time: Lock) -> Agreement:
    _refuse_unless_code_alone(drift)
    before = dict(_digests(drift))
    agreement = _compare(drift, params)
    with one_at_a_time:
        if dict(_digests(drift)) != before:
            raise StaysStaleError("its source, data or parameters were edited meanwhile")
        _record(drift, agreement)
    return agreement


def _refuse_unless_code_alone(drift: Drift) -> None:
    if drift.outputs:
        raise StaysStaleError(
            f"refused: {', '.join(drift.outputs)} is not what was recorded; restore it from git"
        )
    if drift.params:
        raise StaysStaleError(f"params changed: {'; '.join(drift.params)}")
    if drift.data:
        raise StaysStaleError(f"data changed: {'; '.join(drift.data)}")
    if drift.command_changed:
        raise StaysStaleError("its command changed")


def _compare(drift: Drift, params: Mapping[str, Any]) -> Agreement:
    """Run the first steps anew and hold them against the record. Raises StaysStaleError."""
    family, name = family_of(drift.name)
    record = read_json(paths.metrics(family.folder, name))
    if DIGESTS[family.folder](params, name) != record["protocol"]["settings"]:
        raise StaysStaleError("its record says that it was measured with other settings")
    provenance = read_provenance(drift.name)
    threads = recorded_threads(provenance)
    short = shortened(params, drift.name, FIRST_STEPS)
    with rerun(drift.name, drift.command, drift.inputs, short, threads) as now:
        apart = _compare_curve(paths.curve(family.folder, name), now)
        found = read_json(now.metrics)
        if found.keys() != record.keys():
            changed = ", ".join(sorted(found.keys() ^ record.keys()))
            raise StaysStaleError(f"its record has other keys now: {changed}")
        old = _old_source(drift.name)
        if old is not None:
            with rerun(drift.name, drift.command, drift.inputs, short, threads, old) as then:
                _compare_reruns(then, now)
        elif apart and same_kind(provenance, read_json(now.provenance)):
            raise StaysStaleError(str(apart[0]))
    return Agreement(bitwise=not apart, against_old_source=old is not None)


def _compare_curve(recorded: Path, now: Rerun) -> list[Difference]:
    """Where the recorded curve and this one part; raises StaysStaleError if beyond rounding."""
    after = read_curve(now.curve)
    last = max(step for _, step in after)
    before = read_curve(recorded, up_to=last)
    for seed in {seed for seed, _ in after}:
        row = before.get((seed, last), {})
        if not any(value is not None for name, value in row.items() if name != "batch_loss"):
            raise StaysStaleError(f"its curve has no evaluation after step {last}, seed {seed}")
    found = differences(before, after)
    beyond = [difference for difference in found if not difference.is_rounding]
    if beyond:
        raise StaysStaleError(str(beyond[0]))
    return found


def _compare_reruns(then: Rerun, now: Rerun) -> None:
    """Both ran here and now, so nothing but the source can part them: not one bit may differ."""
    parted = differences(read_curve(then.curve), read_curve(now.curve))
    if parted:
        raise StaysStaleError(str(parted[0]))
    _compare_records(read_json(then.metrics), read_json(now.metrics))


def _compare_records(then: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    before, after = dict(leaves(then)), dict(leaves(now))
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            raise StaysStaleError(
                f"after {FIRST_STEPS} steps its record's {key} was {before.get(key)}"
                f" with the source that measured, is {after.get(key)}"
            )


def _old_source(stage: str) -> "OldSource | None":
    """The source that dvc.lock records for a stage; None if git has not all of it."""
    # Checksums are wanted as they are written, and the file is long: DVC's reader takes seconds.
    lock = yaml.load(LOCK_FILE.read_text(encoding="utf-8"), yaml.CBaseLoader)
    deps = lock["stages"][stage]["deps"]
    wanted = {dep["path"]: dep["md5"] for dep in deps if dep["path"].startswith(CODE)}
    content = {path: git.version_with(path, md5) for path, md5 in wanted.items()}
    found = {path: text for path, text in content.items() if text is not None}
    return OldSource(found) if len(found) == len(wanted) else None


@dataclass(frozen=True)
class OldSource:
    """Source files as they were; calling it writes them below a folder."""

    files: Mapping[str, bytes]

    def __call__(self, folder: Path) -> None:
        """Write them."""
        for path, content in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)


def _digests(drift: Drift) -> Iterable[tuple[str, str]]:
    for path in (*drift.source, *drift.inputs, str(paths.PARAMS)):
        yield path, hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _record(drift: Drift, agreement: Agreement) -> None:
    """Note it in the stage's provenance, then tell DVC. Raises UserError if DVC will not."""
    family, name = family_of(drift.name)
    file = paths.provenance(family.folder, name)
    before = read_provenance(drift.name)
    note = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": git.commit(),
        "steps": FIRST_STEPS,
        "bitwise": agreement.bitwise,
        "against_old_source": agreement.against_old_source,
        "changed": list(drift.code),
    }
    write_json(file, {**before, "reconfirmed": [*before.get("reconfirmed", []), note]})
    done = subprocess.run(
        [*dvc(), "--wait-for-lock", "commit", "--force", drift.name],
        env=environment(Path()) | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        write_json(file, before)
        last = (done.stderr.strip().splitlines() or [""])[-1]
        raise UserError(f"dvc commit failed: {last}")


if __name__ == "__main__":
    run_command(main)
