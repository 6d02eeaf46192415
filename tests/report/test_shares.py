"""Heads, tying and the feed-forward share: what is said follows the records."""

from pathlib import Path

from synthetic import write_ledger, write_project

from remeasure.records.files import read_json, write_json
from remeasure.records.spread import spread
from remeasure.reporting import sections
from remeasure.reporting.loading import Report, load


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


def line(report: Report, label: str) -> str:
    """The table's row of that label."""
    return next(row for row in sections.shares(report).split("<tr>") if f">{label}<" in row)


def test_differences_are_to_the_block_and_paired_by_seed(tmp_path: Path) -> None:
    """The seeds differ by more than the heads, yet eight are better in each of them."""
    report = with_seeds(
        tmp_path, heads_4=[40.0, 50.0, 60.0], heads_8=[39.0, 48.9, 59.1], heads_2=[41.0, 47.0, 61.0]
    )
    assert ">−1.00<" in line(report, "8 heads")
    assert "holds" in line(report, "8 heads")
    assert "may be chance" in line(report, "2 heads")
    html = sections.shares(report)
    apart, chance = html.split("told apart from the block:")[1].split("Not told apart from chance:")
    assert "8 heads" in apart
    assert "2 heads" in chance.split("</p>")[0]


def test_best_and_worst_follow_the_records(tmp_path: Path) -> None:
    report = with_seeds(tmp_path, heads_1=[30.0, 30.5, 31.0], tied=[60.0, 61.0, 62.0])
    html = sections.shares(report)
    assert "the mean perplexity is lowest at 1 (30.50)" in html
    assert "which the output layer then starts with, it costs" in html


def test_tying_is_told_for_either_way_of_drawing_the_embedding(tmp_path: Path) -> None:
    report = with_seeds(tmp_path, heads_4=[50.0, 51.0, 52.0], tied=[150.0, 152.0, 154.0])
    html = sections.shares(report)
    assert "which the output layer then starts with, it costs 101 points" in html
    assert "multiplied by as much when they are read (Vaswani et al. 2017), it buys" in html
    assert "the loss before the first step is 7.5 nats" in html
    assert "Scaling alone, untied, buys 6." in html
    assert "holds" in line(report, "tied embeddings")


def test_without_the_scaled_run_nothing_is_said_of_it(tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "metrics/scaled_embedding/tied.json").unlink()
    write_ledger(tmp_path)
    html = sections.shares(load(tmp_path))
    assert "Vaswani" not in html
    assert "as PyTorch draws them, with a deviation" in html


def test_one_missing_run_and_no_ranking_is_given(tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "metrics/ablations/heads_16.json").unlink()
    write_ledger(tmp_path)
    report = load(tmp_path)
    assert "not measured" in line(report, "16 heads")
    assert "Number of heads" not in sections.shares(report)
