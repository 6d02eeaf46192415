"""What measuring costs on this machine, from the times that stages wrote to provenance/."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from remeasure.errors import UserError
from remeasure.ledger.statistics import MOST_SEEDS
from remeasure.ledger.verdicts import Verdict
from remeasure.records.files import read_json
from remeasure.records.provenance import provenance_of


def seconds(stage: str, root: Path = Path()) -> float | None:
    """How long the stage ran, all its seeds together; None if that is not on record."""
    try:
        found = read_json(root / provenance_of(stage))["wall_seconds"]
    except (UserError, KeyError):
        return None
    return found if isinstance(found, int | float) else None


def minutes_per_seed(row: Mapping[str, Any], root: Path = Path()) -> float | None:
    """Minutes for one more seed in each stage of a ledger row over seeds; None if not on record."""
    known = [seconds(stage, root) for stage in row["stages"]]
    times = [time for time in known if time is not None]
    return sum(times) / 60 / _seeds(row["measured"]) if len(times) == len(known) else None


def to_settle(row: Mapping[str, Any], root: Path = Path()) -> str | None:
    """How many more seeds would settle an underpowered ledger row, and what they cost here."""
    if row["verdict"] != Verdict.UNDERPOWERED:
        return None
    needed = row["more_seeds"]
    if needed is None:
        return f"{MOST_SEEDS} seeds like these would not tell"
    each = minutes_per_seed(row, root)
    cost = "at an unknown cost" if each is None else f"about {max(1, round(needed * each))} min"
    return f"{needed} more {'seed' if needed == 1 else 'seeds'} would probably tell, {cost}"


def _seeds(measured: Mapping[str, Any]) -> int:
    pairs = measured.get("pairs", [{"only": measured}])
    return min(spread["n"] for pair in pairs for spread in pair.values())
