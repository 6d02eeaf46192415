"""Measured costs of this machine, one a module: its function `measure` takes the settings."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from remeasure.errors import ParameterError

Measure = Callable[[Mapping[str, Any]], dict[str, Any]]


def benchmark(name: str) -> Measure:
    """The function `measure` of the module `name`. Raises ParameterError if there is none."""
    address = f"{__name__}.{name}"
    try:
        measure: Measure | None = getattr(import_module(address), "measure", None)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith(f"{__name__}."):
            raise
        measure = None
    if measure is None:
        raise ParameterError(f"benchmarks.{name}: no module {address} with a function 'measure'")
    return measure
