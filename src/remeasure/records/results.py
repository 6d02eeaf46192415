"""All results at hand. What was never measured is None, and never a zero.

Nothing here decides whether a number counts as the chapter's experiment: the ledger does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from remeasure.records.files import read_json

METRICS = "metrics/**/*.json"
FAMILIES = (
    *("ablations", "referent"),
    *("recurrent", "seq2seq", "masked", "normalisation", "scaled_embedding", "induction"),
)
CURVES = tuple(f"plots/{family}/*.csv" for family in FAMILIES)
LEDGER = "metrics/ledger.json"


@dataclass(frozen=True)
class Spread:
    """A number over seeds; `std` is None for a single seed or a plain number, `n` None for that."""

    mean: float
    std: float | None = None
    n: int | None = None
    per_seed: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Results:
    """Records and curves by their path, such as metrics/ablations/one_block.json."""

    records: Mapping[str, Mapping[str, Any]]
    curves: Mapping[str, pd.DataFrame]

    def value(self, address: str) -> Any:
        """What stands at an address such as `metrics/corpus.json#tokens`; None without it."""
        file, _, keys = address.partition("#")
        found: Any = self.records.get(file)
        for key in keys.split("."):
            if isinstance(found, Mapping):
                found = found.get(key)
            elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            else:
                return None
        return found

    def spread(self, address: str) -> Spread | None:
        """The number at an address, with its spread if it was measured over seeds."""
        return as_spread(self.value(address))

    def number(self, address: str) -> float | None:
        """The number at an address, the mean if it was measured over seeds."""
        found = self.spread(address)
        return None if found is None else found.mean

    def ablation(self, name: str, keys: str) -> Spread | None:
        """The number at `keys` of one of the chapter's trained experiments."""
        return self.spread(f"metrics/ablations/{name}.json#{keys}")

    def curve(self, family: str, name: str) -> pd.DataFrame | None:
        """The table of one stage, such as plots/ablations/one_block.csv; None without it."""
        return self.curves.get(f"plots/{family}/{name}.csv")

    def claim(self, name: str) -> Mapping[str, Any] | None:
        """The ledger's row of a claim or finding; None if there is none, or no ledger."""
        return next((row for row in self.ledger_rows() if row["id"] == name), None)

    def printed(self, name: str) -> float | None:
        """The number that the chapter prints for a claim; None for words or without the claim."""
        row = self.claim(name)
        value = None if row is None else row.get("printed")
        return value if isinstance(value, int | float) else None

    def ledger_rows(self) -> Iterator[Mapping[str, Any]]:
        """Claims, then findings."""
        ledger = self.records.get(LEDGER, {})
        yield from ledger.get("claims", [])
        yield from ledger.get("findings", [])


def as_spread(value: Any) -> Spread | None:
    """A record's spread, or a plain number, as a Spread; None for anything else."""
    if isinstance(value, Mapping) and isinstance(value.get("mean"), int | float):
        return Spread(value["mean"], value.get("std"), value.get("n"), value.get("per_seed"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Spread(value)
    return None


def read_results(root: Path = Path()) -> Results:
    """Every record and curve under `root`. Raises UserError for a damaged record."""
    records = {_name(path, root): read_json(path) for path in sorted(root.glob(METRICS))}
    curves = {
        _name(path, root): pd.read_csv(path)
        for pattern in CURVES
        for path in sorted(root.glob(pattern))
    }
    return Results(records, curves)


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
