"""A number over seeds: mean, sample standard deviation, n, and each seed's own value."""

import statistics
from collections.abc import Mapping
from typing import Any


def spread(per_seed: Mapping[int, float]) -> dict[str, Any]:
    """Summary of one value a seed; `std` is the sample deviation (n - 1), None for one seed."""
    values = list(per_seed.values())
    return {
        "mean": statistics.fmean(values),
        "std": statistics.stdev(values) if len(values) > 1 else None,
        "n": len(values),
        "per_seed": {str(seed): value for seed, value in per_seed.items()},
    }
