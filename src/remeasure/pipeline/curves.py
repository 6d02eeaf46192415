"""Two curves of one training, row by row: equal to the bit, apart by rounding, or different."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from remeasure.errors import UserError

Rows = Mapping[tuple[int, int], Mapping[str, float | None]]
"""By seed and step; a cell that was not measured is None."""

ROUNDING = 5e-6
"""What float32 in another order of summing may move by, in units of the value, at a first step."""
GROWTH = 0.1
"""A step multiplies what rounding moved: this much of it is added at every step."""
MOST = 0.05
"""Beyond this, a difference is never called rounding."""


@dataclass(frozen=True)
class Difference:
    """One cell in which two curves part."""

    seed: int
    step: int
    column: str
    recorded: float | None
    now: float | None

    def __str__(self) -> str:
        return (
            f"step {self.step}, seed {self.seed}: {self.column} was {self.recorded}, is {self.now}"
        )

    @property
    def size(self) -> float:
        """In units of the recorded value, of 1 where that is smaller; infinite if one is absent."""
        if self.recorded is None or self.now is None:
            return float("inf")
        return abs(self.now - self.recorded) / max(1.0, abs(self.recorded))

    @property
    def is_rounding(self) -> bool:
        """Whether arithmetic in another order explains it."""
        return self.size <= rounding_at(self.step)


def rounding_at(step: int) -> float:
    """How far two trainings may be apart at a step and still be called the same, but for rounding.

    docs/reliability.md has the measurements that it stands on.
    """
    return min(MOST, ROUNDING * (1 + GROWTH * step))


def read_curve(path: Path, up_to: int | None = None) -> Rows:
    """The curve in a file, up to a step. Raises UserError if it is missing or damaged."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        curve = {
            (int(row["seed"]), int(row["step"])): {
                column: float(cell) if cell else None
                for column, cell in row.items()
                if column not in ("seed", "step")
            }
            for row in rows
        }
    except FileNotFoundError:
        raise UserError(f"{path}: not found") from None
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise UserError(f"{path}: damaged ({error}); restore it from git") from None
    return {key: row for key, row in curve.items() if up_to is None or key[1] <= up_to}


def differences(recorded: Rows, now: Rows) -> list[Difference]:
    """Every cell that is not the same number to the last bit, in the order of seeds and steps.

    A seed's last step now is evaluated whatever the record did there: its cells count only where
    the record has a number.
    """
    last = {seed: max(step for other, step in now if other == seed) for seed, _ in now}
    found = []
    for seed, step in sorted({*recorded, *now}):
        before, after = recorded.get((seed, step), {}), now.get((seed, step), {})
        for column in {**before, **after}:
            was, value = before.get(column), after.get(column)
            extra = was is None and step == last.get(seed)
            if was != value and not extra:
                found.append(Difference(seed, step, column, was, value))
    return found
