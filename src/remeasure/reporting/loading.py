"""Everything that the report reads, found from the working tree's root or any folder below it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remeasure import paths
from remeasure.errors import UserError
from remeasure.ledger.claims import Claims, read_claims
from remeasure.ledger.values import NotMeasured, split_address, value_at
from remeasure.ledger.verdicts import judge
from remeasure.params.reading import read_params
from remeasure.records.files import read_json
from remeasure.records.provenance import provenance_of
from remeasure.records.results import Results, read_results

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """Records, claims, parameters, and how each stage ran."""

    root: Path
    results: Results
    claims: Claims
    params: Mapping[str, Any]
    provenance: Mapping[str, Row]
    """By path, such as provenance/ablations/one_block.json. Not all stages leave one."""

    def rows(self, section: str | None = None) -> list[Row]:
        """The ledger's claims, of one section or all."""
        rows = self.results.records.get(str(paths.LEDGER), {}).get("claims", [])
        return [row for row in rows if section in (None, row["section"])]

    def findings(self) -> list[Row]:
        """The ledger's numbers that no chapter prints."""
        return list(self.results.records.get(str(paths.LEDGER), {}).get("findings", []))

    def measured(self, row: Row) -> Row | None:
        """What was measured for a claim or finding, even where it does not count.

        A record at a part of its budget is shown, with the ledger's reason beside it, and never
        has a verdict.
        """
        if row["measured"] is not None:
            return dict(row["measured"])
        try:
            values = [self._value(address) for address in row["addresses"]]
            if "verdict" in row:
                claim = next(claim for claim in self.claims.claims if claim.id == row["id"])
                found = judge(claim, values, self.claims.typical_spread).measured
                return None if found is None else dict(found)
        except NotMeasured:
            return None
        (value,) = values
        if value is None or isinstance(value, Mapping):
            return value
        return {"value": value}

    def ran(self, stage: str) -> Row | None:
        """How a stage such as `ablation@head` ran; None if that is not on record."""
        return self.provenance.get(str(provenance_of(stage)))

    def _value(self, address: str) -> Any:
        file, keys = split_address(address)
        record = self.results.records.get(str(file))
        if record is None:
            raise NotMeasured(f"no {file}")
        return value_at(record, keys)


def load(folder: Path | None = None) -> Report:
    """Everything under the working tree that `folder` (by default the current one) lies in.

    Raises UserError if there is no such tree, or for a damaged record; a missing one is no error.
    """
    root = _root(folder or Path.cwd())
    provenance = {
        path.relative_to(root).as_posix(): read_json(path)
        for path in sorted(root.glob("provenance/*/*.json"))
    }
    return Report(
        root,
        read_results(root),
        read_claims(root / paths.CLAIMS),
        read_params(root / paths.PARAMS),
        provenance,
    )


def _root(folder: Path) -> Path:
    for candidate in (folder, *folder.resolve().parents):
        if (candidate / paths.PARAMS).is_file() and (candidate / paths.CLAIMS).is_file():
            return candidate
    raise UserError(f"{folder}: neither this folder nor one above it holds {paths.PARAMS}")
