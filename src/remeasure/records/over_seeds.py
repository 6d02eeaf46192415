"""Numbers of several seeds, by address, as one nested record."""

from collections.abc import Mapping
from typing import Any

from remeasure.records.spread import spread


def over_seeds(measured: Mapping[int, Mapping[str, float | None]]) -> dict[str, Any]:
    """A spread for each address; a dot in an address goes one level down.

    What is None for every seed, since it is not defined, stays None. Every seed has the same
    addresses, and an address is defined for all of them or for none.
    """
    record: dict[str, Any] = {}
    for address in next(iter(measured.values())):
        *folders, name = address.split(".")
        level = record
        for folder in folders:
            level = level.setdefault(folder, {})
        values = {seed: numbers[address] for seed, numbers in measured.items()}
        defined = {seed: value for seed, value in values.items() if value is not None}
        level[name] = spread(defined) if defined else None
    return record
