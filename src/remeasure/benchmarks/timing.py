"""How long a piece of work takes, on which device, and how much that varies."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

from remeasure.errors import ParameterError

FEWEST_REPEATS = 3

Result = TypeVar("Result")


def choose_device(name: str, where: str) -> torch.device:
    """The device that `auto`, `cpu` or `cuda` means here.

    Raises ParameterError, with the address `where`, if CUDA is asked for and not there.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ParameterError(f"{where}: cuda is asked for, but no CUDA device was found; use auto")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def timed(work: Callable[[], Result], device: torch.device) -> tuple[Result, float]:
    """The result of `work` and the milliseconds it took by the clock on the wall."""
    _finish(device)
    start = time.perf_counter()
    result = work()
    _finish(device)
    return result, 1000 * (time.perf_counter() - start)


def repeated(
    work: Callable[[], object], device: torch.device, *, repeats: int, seconds: float
) -> dict[str, Any]:
    """Summary of the milliseconds of `repeats` runs, after one that is not counted.

    Stops earlier once `seconds` are spent, but not before three runs.
    """
    work()
    times: list[float] = []
    while len(times) < repeats and (len(times) < FEWEST_REPEATS or sum(times) < 1000 * seconds):
        times.append(timed(work, device)[1])
    return summary(times)


def summary(values: Sequence[float]) -> dict[str, Any]:
    """Median, lower and upper quartile (`low`, `high`) and the number of values, `n`."""
    low, median, high = (float(value) for value in np.percentile(values, [25, 50, 75]))
    return {"median": median, "low": low, "high": high, "n": len(values)}


def _finish(device: torch.device) -> None:
    """Wait for what was only queued: CUDA returns before the work is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
