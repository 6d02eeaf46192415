"""Numbers inside records, by address: `metrics/ablations/one_block.json#held_out.perplexity`.

A part of an address that is `*` stands for every entry of a list or mapping, in its order. What
lies below a null is null: a benchmark that ran out of memory has no milliseconds. A number over
seeds is a spread (records.spread): what counts is each seed's own value.
"""

import math
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

SPREAD_KEYS = {"mean", "std", "n", "per_seed"}


class NotMeasured(Exception):
    """There is no number to judge, or none that counts; the message is the reason shown."""


def split_address(address: str) -> tuple[Path, list[str]]:
    """The record's file and the keys that lead to the value."""
    file, _, keys = address.partition("#")
    return Path(file), keys.split(".")


def value_at(record: Any, keys: list[str]) -> Any:
    """What stands under `keys`. Raises NotMeasured if nothing does."""
    if not keys or record is None:
        return record
    first, *rest = keys
    if first == "*" and isinstance(record, Mapping | list):
        entries = list(record.values()) if isinstance(record, Mapping) else record
        return [value_at(entry, rest) for entry in entries]
    if isinstance(record, Mapping) and first in record:
        return value_at(record[first], rest)
    if isinstance(record, list) and first.isdigit() and int(first) < len(record):
        return value_at(record[int(first)], rest)
    raise NotMeasured(f"the record has no {first!r}")


def is_spread(value: Any) -> bool:
    """Whether a value is a number over seeds."""
    return isinstance(value, Mapping) and set(value) >= SPREAD_KEYS


def numbers(value: Any) -> list[float]:
    """Every number of a value, each seed's own for a spread; else raises NotMeasured."""
    if is_spread(value):
        return numbers(value["per_seed"])
    if isinstance(value, Mapping):
        return numbers(list(value.values()))
    if isinstance(value, list):
        return list(chain.from_iterable(map(numbers, value)))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise NotMeasured(f"the record holds {value!r} where a number is expected")
    return [value]


def per_seed(value: Any) -> dict[int, float]:
    """Each seed's value of a spread. Raises NotMeasured if it is none."""
    if not is_spread(value):
        raise NotMeasured("the record holds no number over seeds there")
    seeds = value["per_seed"]
    return dict(zip(map(int, seeds), numbers(seeds), strict=True))
