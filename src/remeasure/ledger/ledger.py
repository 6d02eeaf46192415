"""Every claim against the records there are, as plain data to write and to show."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from remeasure import paths
from remeasure.errors import ParameterError, UserError
from remeasure.ledger.claims import Claim, Claims, Finding, Pin
from remeasure.ledger.values import NotMeasured, split_address, value_at
from remeasure.ledger.verdicts import Judgement, Verdict, judge
from remeasure.params.reading import section
from remeasure.records.files import read_json


class Records:
    """Records under `root`, each read once and held to its pin in claims.yaml."""

    def __init__(self, claims: Claims, params: Mapping[str, Any], root: Path) -> None:
        self._protocol, self._params, self._root = claims.protocol, params, root
        self._usable: dict[Path, dict[str, Any] | NotMeasured] = {}

    def at(self, address: str) -> Any:
        """The value at an address. Raises NotMeasured if it is not there or does not count."""
        file, keys = split_address(address)
        if file not in self._usable:
            try:
                self._usable[file] = self._checked(file, self._protocol.records[str(file)])
            except NotMeasured as reason:
                self._usable[file] = reason
        record = self._usable[file]
        if isinstance(record, NotMeasured):
            raise record
        try:
            return value_at(record, keys)
        except NotMeasured as reason:
            raise NotMeasured(f"{address}: {reason}") from None

    def _checked(self, file: Path, pin: Pin) -> dict[str, Any]:
        try:
            section(self._params, pin.entry)
        except ParameterError:
            raise NotMeasured(f"{pin.entry} is no longer in {paths.PARAMS}") from None
        record = self._read(file, pin.stage)
        if pin.text is not None:
            self._check_text(value_at(record, pin.text.split(".")))
        if pin.settings is not None:
            fraction, settings = (
                value_at(record, ["protocol", key]) for key in ("fraction", "settings")
            )
            if fraction != 1:
                raise NotMeasured(f"{pin.stage} ran at {100 * fraction:g} % of its budget")
            if settings != pin.settings:
                raise NotMeasured(
                    f"{pin.stage} ran with settings {settings}, the chapter's are {pin.settings}"
                )
        return record

    def _check_text(self, sha256: Any) -> None:
        text = self._protocol.text
        if sha256 != text.sha256:
            raise NotMeasured(f"another text was read: SHA-256 {str(sha256)[:12]}")
        counts = self._read(paths.CORPUS_METRICS, "tokenize")
        for name in ("vocab_size", "tokens", "training_tokens"):
            found, pinned = value_at(counts, [name]), getattr(text, name)
            if found != pinned:
                raise NotMeasured(f"the text was cut otherwise: {name} {found}, not {pinned}")

    def _read(self, file: Path, stage: str) -> dict[str, Any]:
        if not (self._root / file).exists():
            raise NotMeasured(f"{stage} has not run here")
        return read_json(self._root / file)


def hold(claims: Claims, params: Mapping[str, Any], root: Path = Path()) -> dict[str, Any]:
    """All claims against the records under `root`: what metrics/ledger.json holds.

    `params` is all of params.yaml: a record whose entry is gone from it no longer counts.
    `claims` has a row a claim, `findings` the measured numbers that no chapter prints. Raises
    UserError for a damaged record; a missing one makes its claims `not measured`.
    """
    records = Records(claims, params, root)
    return {
        "claims": [_row(claim, claims, records) for claim in claims.claims],
        "findings": [_finding(finding, claims, records) for finding in claims.findings],
    }


def summary(claims: Claims, ledger: Mapping[str, Any]) -> dict[str, Any]:
    """Counts by verdict and the headline numbers: what metrics/summary.json holds."""
    counts = Counter(row["verdict"] for row in ledger["claims"])
    rows = {row["id"]: row for row in ledger["claims"]}
    return {
        "verdicts": {verdict.replace(" ", "_"): counts[verdict] for verdict in Verdict},
        "headline": {name: number(rows[claim]) for name, claim in claims.headlines.items()},
    }


def number(row: Mapping[str, Any]) -> float | None:
    """The one number that a row is about: a mean over seeds or a plain value; None without one."""
    measured = row["measured"] or {}
    found = measured.get("mean", measured.get("value"))
    return found if isinstance(found, int | float) else None


def read_ledger(path: Path = paths.LEDGER) -> dict[str, Any]:
    """metrics/ledger.json. Raises UserError if it is missing, damaged or of another form."""
    ledger = read_json(path)
    if not isinstance(ledger.get("claims"), list):
        raise UserError(f"{path}: not a ledger; 'dvc repro ledger' writes it")
    return ledger


def _row(claim: Claim, claims: Claims, records: Records) -> dict[str, Any]:
    try:
        values = [records.at(address) for address in claim.addresses]
        found = judge(claim, values, claims.typical_spread)
    except NotMeasured as reason:
        found = Judgement(Verdict.NOT_MEASURED, str(reason))
    return {
        "id": claim.id,
        "section": claim.section,
        "chapter": claim.chapter,
        "what": claim.what,
        "kind": claim.kind,
        "printed": claim.printed,
        "digits": claim.digits,
        "measured": found.measured,
        "interval": found.interval,
        "p_value": found.p_value,
        "verdict": found.verdict,
        "reason": found.reason,
        "more_seeds": found.more_seeds,
        "rule": claim.rule.model_dump(mode="json", exclude_none=True),
        "stages": stages_of(claim, claims),
        "addresses": list(claim.addresses),
    }


def _finding(finding: Finding, claims: Claims, records: Records) -> dict[str, Any]:
    try:
        value, reason = records.at(finding.address), None
    except NotMeasured as missing:
        value, reason = None, str(missing)
    return {
        "id": finding.id,
        "section": finding.section,
        "what": finding.what,
        "lost": finding.lost,
        "measured": value if isinstance(value, Mapping) or value is None else {"value": value},
        "reason": reason,
        "stages": stages_of(finding, claims),
        "addresses": [finding.address],
    }


def stages_of(entry: Claim | Finding, claims: Claims) -> list[str]:
    """The stages that measure a claim, in the order of its addresses."""
    files = [str(split_address(address)[0]) for address in entry.addresses]
    return list(dict.fromkeys(claims.protocol.records[file].stage for file in files))
