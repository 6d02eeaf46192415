"""`diff REV`: which verdicts changed between a commit and the working tree, with the numbers."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from remeasure import paths
from remeasure.errors import UserError

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One claim whose verdict differs; None on the side where there is no such claim."""

    id: str
    before: Row | None
    after: Row | None


def ledger_at(revision: str) -> dict[str, Any]:
    """metrics/ledger.json as it stands in a commit. Raises UserError if it is not there."""
    if not revision or revision.startswith("-"):
        raise UserError(f"{revision!r}: not a commit, tag or branch")
    place = f"{revision}:{paths.LEDGER.as_posix()}"
    try:
        done = subprocess.run(["git", "show", place], capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(f"git cannot be run: {error}") from None
    if done.returncode:
        first_line = (done.stderr.strip() or "unknown error").splitlines()[0]
        raise UserError(f"{place} cannot be read: {first_line}")
    try:
        ledger: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise UserError(f"{place} is damaged: {error}") from None
    return ledger


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Claims whose verdict is another, in the order of the later ledger, removed ones last."""
    old, new = ({row["id"]: row for row in ledger["claims"]} for ledger in (before, after))
    return [
        Change(name, old.get(name), new.get(name))
        for name in dict.fromkeys([*new, *old])
        if _verdict(old.get(name)) != _verdict(new.get(name))
    ]


def _verdict(row: Row | None) -> str | None:
    return None if row is None else row["verdict"]
