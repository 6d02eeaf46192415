"""Induction: what is said about layers, heads and baselines follows the records."""

from pathlib import Path

from synthetic import write_ledger, write_project

from remeasure.records.files import read_json, write_json
from remeasure.reporting import sections
from remeasure.reporting.loading import Report, load

TWO_LAYERS = "metrics/induction/two_layers.json"


def with_values(root: Path, **changes: object) -> Report:
    """A project in which the record of two layers has other values."""
    write_project(root)
    write_json(root / TWO_LAYERS, {**read_json(root / TWO_LAYERS), **changes})
    write_ledger(root)
    return load(root)


def test_seeds_that_learn_and_those_that_do_not_are_counted(report: Report) -> None:
    html = sections.induction(report)
    assert "Two layers: 3 of 3 seeds fall below 1.25" in html
    assert "One layer: 0 of 3 seeds fall below 1.25, half of what the tokens seen give." in html
    assert ">0 of 3<" in html
    assert ">none<" in html, "that no seed learned is measured"


def test_words_follow_the_record(report: Report, tmp_path: Path) -> None:
    assert "two layers are below it" in sections.induction(report)
    worse = {"mean": 0.5, "std": 0.1, "n": 2, "per_seed": {"0": 0.4, "1": 0.6}}
    changed = sections.induction(with_values(tmp_path, repeat_loss=worse))
    assert "two layers are above it" in changed
    assert "at a loss of 0.50 nats" in changed
