"""`affected FILE`: which stages and claims a change to a file puts at risk, and what that costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remeasure import paths
from remeasure.errors import UserError
from remeasure.ledger import costs
from remeasure.ledger.claims import Claims, records_of
from remeasure.ledger.graph import Stage, downstream
from remeasure.ledger.ledger import stages_of


@dataclass(frozen=True)
class Affected:
    """What a change to `target` makes stale."""

    target: str
    stages: tuple[str, ...]
    claims: tuple[str, ...]
    """Ids of the claims whose numbers those stages measure, or whose record `target` is."""
    seconds: Mapping[str, float]
    """Recorded time of the stages that have one; the others' is unknown."""


def affected(target: str, stages: list[Stage], claims: Claims, root: Path = Path()) -> Affected:
    """What depends on `target`: a path below `root`, or an address such as `params.yaml:base`.

    Raises UserError for a file that is neither there nor named by any stage.
    """
    stale = [stage.name for stage in downstream(stages, target)]
    file = target.partition(":")[0]
    if not stale and not (root / file).exists():
        raise UserError(f"{file}: no such file, and no stage of {paths.PIPELINE} reads it")
    at_risk = [
        claim.id
        for claim in claims.claims
        if file in records_of([claim]) or set(stages_of(claim, claims)) & set(stale)
    ]
    known = {name: costs.seconds(name, root) for name in stale}
    times: dict[str, Any] = {name: time for name, time in known.items() if time is not None}
    return Affected(target, tuple(stale), tuple(at_risk), times)


def relative_to_root(word: str) -> str:
    """A path as dvc.yaml would write it; an address in params.yaml stays as it is."""
    if word.startswith(f"{paths.PARAMS}:"):
        return word
    path = Path(word).resolve()
    if not path.is_relative_to(Path.cwd()):
        raise UserError(f"{word}: lies outside the working tree; name a file of this repository")
    return path.relative_to(Path.cwd()).as_posix()
