import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from remeasure.figures.catalogue import FIGURES, draw, draw_inline
from remeasure.figures.words import fixed
from remeasure.records.results import Results


def changed(results: Results, file: str, make: Any) -> Results:
    """The same results with one record made anew."""
    return Results({**results.records, file: make(results.records[file])}, results.curves)


def without(results: Results, part: str) -> Results:
    """The same results without the records and curves whose path holds `part`."""
    return Results(
        {path: record for path, record in results.records.items() if part not in path},
        {path: curve for path, curve in results.curves.items() if part not in path},
    )


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_and_described(name: str, results: Results) -> None:
    picture = draw(name, results)
    assert "not measured" not in picture.alt
    assert any(character.isdigit() for character in picture.alt)
    assert picture.alt.endswith(".")
    assert "nan" not in picture.alt.lower().split()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_records_says_so_and_shows_no_zero(name: str, nothing: Results) -> None:
    assert "not measured" in draw(name, nothing).alt
    text = draw_inline(name, nothing)
    assert "not measured" in text
    assert not draw(name, nothing).figure.axes[0].containers, "nothing is drawn as a value"


@pytest.mark.parametrize("part", ["one_block", "undivided", "uniform"])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_lives_with_records_missing(name: str, part: str, results: Results) -> None:
    assert draw(name, without(results, part)).alt


def test_a_missing_rung_is_neither_drawn_nor_bridged(results: Results) -> None:
    picture = draw("ladder", without(results, "ablations/heads"))
    assert "four heads not measured" in picture.alt
    texts = [text.get_text() for text in picture.figure.axes[0].texts]
    head, ff = (
        results.ablation(name, "held_out.perplexity").mean for name in ("head", "feed_forward")
    )
    assert f"−{fixed(head - ff, 1)}" not in texts


def test_the_description_follows_the_record(results: Results) -> None:
    def worse(record: Mapping[str, Any]) -> dict[str, Any]:
        spread = {"mean": 77.7, "std": 1.5, "n": 3, "per_seed": {"0": 76.2, "1": 77.7, "2": 79.2}}
        return {**record, "held_out": {"perplexity": spread}}

    picture = draw("ladder", changed(results, "metrics/ablations/one_block.json", worse))
    assert "one block 77.7 ± 1.5" in picture.alt
    assert "77.7" not in draw("ladder", results).alt


def test_the_chapters_figures_come_from_the_ledger(results: Results) -> None:
    assert "(chapter 38.1)" in draw("ladder", results).alt
    assert "chapter" not in draw("ladder", without(results, "metrics/ledger")).alt


def test_figures_and_report_do_not_import_torch() -> None:
    code = (
        "import sys, remeasure.reporting.sections, remeasure.reporting.rendering;"
        " sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
