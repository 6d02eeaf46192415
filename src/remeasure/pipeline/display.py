"""One display for all running stages: a live table on a terminal, a sparse line elsewhere."""

import time
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from remeasure.figures.words import duration

SECONDS_BETWEEN_LINES = 60.0


@dataclass(frozen=True)
class Running:
    """How far one running stage is; `total` is 0 and `seconds_left` None while it has not said."""

    name: str
    done: int
    total: int
    note: str
    seconds: float
    seconds_left: float | None


class Display:
    """Shows running stages; use as a context manager."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = (
            Live(console=self._console, refresh_per_second=4) if self._console.is_terminal else None
        )
        self._last_line = time.monotonic()

    def __enter__(self) -> "Display":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._live is not None:
            self._live.update(Text(""))
            self._live.stop()

    def line(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(
        self, running: list[Running], *, waiting: int, done: int, seconds_left: float | None
    ) -> None:
        """The state of the whole, as often as you like."""
        left = "" if seconds_left is None else f", about {duration(seconds_left)} left"
        summary = f"{done} done, {len(running)} running, {waiting} waiting{left}"
        if self._live is not None:
            self._live.update(_table(running, summary))
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            shares = [f"{stage.name} {_percent(stage)}" for stage in running]
            self.line(f"{summary}: {', '.join(shares)}")


def _percent(stage: Running) -> str:
    return f"{100 * stage.done // stage.total} %" if stage.total else "starting"


def _table(running: list[Running], summary: str) -> Table:
    table = Table(box=None, show_header=False, caption=summary, caption_justify="left")
    for stage in running:
        table.add_row(
            stage.name,
            ProgressBar(total=stage.total or None, completed=stage.done, width=24),
            _percent(stage),
            duration(stage.seconds),
            Text(stage.note, overflow="ellipsis", no_wrap=True),
        )
    return table
