"""Differences over seeds: paired, with the interval of Student's t."""

from pathlib import Path

import pytest
import scipy.stats
from synthetic import write_ledger, write_project

from remeasure.records.files import read_json, write_json
from remeasure.records.spread import spread
from remeasure.reporting import sections
from remeasure.reporting.loading import Report, load
from remeasure.reporting.sections.seeds import COMPARISONS, Gain


def with_seeds(root: Path, **per_seed: list[float]) -> Report:
    """A project in which the held-out perplexities of some ablations are given, seed by seed."""
    write_project(root)
    for name, values in per_seed.items():
        path = root / f"metrics/ablations/{name}.json"
        record = read_json(path)
        record["held_out"]["perplexity"] = spread(dict(enumerate(values)))
        write_json(path, record)
    write_ledger(root)
    return load(root)


def test_interval_is_that_of_scipy() -> None:
    gain = Gain("", None, (1.0, 2.0, 4.0))
    low, high = scipy.stats.t.interval(0.95, 2, loc=7 / 3, scale=scipy.stats.sem([1, 2, 4]))
    assert gain.reach is not None
    assert (gain.mean - gain.reach, gain.mean + gain.reach) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("differences", "holds"), [((1.0,), None), ((1.0, 1.1, 0.9), True), ((1.0, -1.0, 0.5), False)]
)
def test_a_difference_holds_if_its_interval_leaves_out_zero(
    differences: tuple[float, ...], holds: bool | None
) -> None:
    assert Gain("", None, differences).holds is holds


def test_differences_are_paired_by_seed(tmp_path: Path) -> None:
    """The seeds differ by more than the heads, yet every one of them gains."""
    report = with_seeds(tmp_path, head=[40.0, 50.0, 60.0], heads=[39.0, 48.9, 59.1])
    line = next(line for line in sections.seeds(report).split("<tr>") if "four heads over" in line)
    assert "holds" in line
    assert ">1.00<" in line


def test_a_single_seed_is_no_test(tmp_path: Path) -> None:
    report = with_seeds(tmp_path, head=[40.0], heads=[39.0])
    line = next(line for line in sections.seeds(report).split("<tr>") if "four heads over" in line)
    assert "one seed" in line


def test_comparisons_are_of_ablations_and_claims_that_exist(report: Report) -> None:
    for _, without, with_it, _, claim in COMPARISONS:
        assert {without, with_it} <= set(report.params["ablations"])
        assert claim is None or report.results.claim(claim) is not None
