from pathlib import Path

import pytest

from remeasure.errors import UserError
from remeasure.reporting.loading import Report, load


def test_the_root_is_found_from_a_folder_below_it_as_in_jupyter(
    project: Path, report: Report
) -> None:
    below = load(project / "report")
    assert below.results.records == report.results.records
    assert below.root == project


def test_outside_a_working_tree_there_is_nothing_to_load(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"params\.yaml"):
        load(tmp_path)


def test_how_a_stage_ran(report: Report, empty_report: Report) -> None:
    ran = report.ran("ablation@one_block")
    assert ran is not None
    assert ran["machine"]["cores"] == 2
    assert empty_report.ran("ablation@one_block") is None


def test_what_does_not_count_is_measured_all_the_same(demo_report: Report) -> None:
    rows = {row["id"]: row for row in demo_report.rows()}
    gain = demo_report.measured(rows["ladder.one_head.gain"])
    uniform, head = (
        demo_report.results.ablation(name, "held_out.perplexity")
        for name in ("uniform_residual", "head")
    )
    assert gain is not None
    assert uniform is not None
    assert head is not None
    assert gain["mean"] == pytest.approx(uniform.mean - head.mean)


def test_what_has_no_record_is_not_measured(empty_report: Report) -> None:
    assert all(empty_report.measured(row) is None for row in empty_report.results.ledger_rows())


def test_a_null_in_a_record_is_no_measurement(report: Report) -> None:
    record = report.results.records["metrics/referent/pool_uniform.json"]
    assert record["settled_at"] is None
    row = report.results.claim("referent.pool_uniform.settled_at")
    assert row is not None
    assert report.measured(row) is None
