import json
import re
from pathlib import Path

import pytest

from remeasure.reporting.loading import Report
from remeasure.reporting.tables import TABLES

CALCULATED = {"revision", "printed", "place", "last"}
"""What the templates make themselves."""


def test_what_is_measured_has_its_lines(report: Report) -> None:
    for table in TABLES.values():
        lines = list(table.rows(report.results))
        assert lines
        assert all(len(line) == len(table.columns) for line in lines)


def test_a_rung_has_mean_spread_and_the_chapters_figure(report: Report) -> None:
    table = TABLES["ladder"]
    lines = table.rows(report.results)
    found = {line[1]: dict(zip(table.columns, line, strict=True)) for line in lines}
    block = found["+ LayerNorm: one block"]
    measured = report.results.ablation("one_block", "held_out.perplexity")
    assert measured is not None
    assert measured.std is not None
    assert block["perplexity"] == measured.mean
    assert block["high"] - block["low"] == pytest.approx(2 * measured.std)
    assert block["chapter"] == 38.07
    assert found["four heads"]["chapter"] is None


def test_what_is_not_measured_has_none(empty_report: Report) -> None:
    for table in TABLES.values():
        assert list(table.rows(empty_report.results)) == []


def test_dvcs_templates_name_columns_that_there_are() -> None:
    root = Path(__file__).parent.parent.parent
    for template, name in (("curve", "learning_curves"), ("ladder", "ladder")):
        text = (root / ".dvc/plots" / f"{template}.json").read_text(encoding="utf-8")
        json.loads(text)
        fields = set(re.findall(r'"field": "([a-z]+)"', text)) - CALCULATED
        assert fields <= set(TABLES[name].columns)
        assert "<DVC_METRIC_DATA>" in text
