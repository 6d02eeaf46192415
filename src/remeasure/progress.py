"""How far a long piece of work is: a bar on a terminal, a sparse line elsewhere.

If the environment variable REMEASURE_PROGRESS names a file, the state also goes there as one JSON
object, at most once a second: that is how several stages side by side share one display.
"""

import json
import os
import sys
import time
from pathlib import Path

from tqdm import tqdm

from remeasure.records.files import write_text

PROGRESS_FILE = "REMEASURE_PROGRESS"
SECONDS_BETWEEN_LINES = 30.0
SECONDS_BETWEEN_FILES = 1.0


class Progress:
    """Counts `total` units of work done under a label; use as a context manager."""

    def __init__(self, label: str, total: int, unit: str = "step") -> None:
        self._label, self._total, self._unit = label, total, unit
        self._done = self._skipped = 0
        self._start = self._last_line = time.monotonic()
        self._last_file = 0.0
        file = os.environ.get(PROGRESS_FILE)
        self._file = Path(file) if file else None
        self._bar = (
            tqdm(total=total, desc=label, unit=f" {unit}", leave=False)
            if sys.stderr.isatty()
            else None
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self, note: str = "") -> None:
        """One more unit is done; `note` is shown beside the count."""
        self.reach(self._done + 1, note)

    def reach(self, done: int, note: str = "") -> None:
        """`done` units are done; of those, what was passed over since the last call took no time.

        That is how a training goes on that was interrupted before.
        """
        self._skipped += done - self._done - 1
        self._done = done
        now = time.monotonic()
        left = (now - self._start) / (done - self._skipped) * (self._total - done)
        if self._bar is not None:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(done - self._bar.n)
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            print(
                f"{self._label}: {self._unit} {done} of {self._total}, {note},"
                f" about {_duration(left)} left",
                flush=True,
            )
        if self._file is not None and (
            now - self._last_file >= SECONDS_BETWEEN_FILES or done == self._total
        ):
            self._last_file = now
            state = {
                "label": self._label,
                "done": done,
                "total": self._total,
                "note": note,
                "seconds_left": left,
            }
            write_text(self._file, json.dumps(state))


class ByteProgress:
    """A bar over bytes on a terminal, nothing elsewhere; use as a context manager."""

    def __init__(self, label: str) -> None:
        self._bar = (
            tqdm(desc=label, unit="B", unit_scale=True, leave=False)
            if sys.stderr.isatty()
            else None
        )

    def __enter__(self) -> "ByteProgress":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, done: int, total: int | None) -> None:
        """`done` bytes of `total` (None if unknown) have arrived."""
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(done - self._bar.n)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
