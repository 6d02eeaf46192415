from dataclasses import replace
from typing import Any

import pytest

from remeasure.reporting.loading import Report
from remeasure.reporting.sections import recurrent, seeds
from remeasure.reporting.verdicts import (
    comparison,
    comparison_cells,
    grid,
    ours_cell,
    ours_in_words,
    printed,
    printed_cell,
)


def row(report: Report, name: str, **changes: Any) -> dict[str, Any]:
    """A row of the ledger, changed."""
    found = report.results.claim(name)
    assert found is not None
    return {**found, **changes}


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (38.07, 2, "38.07"),
        (124439808, 0, "124,439,808"),
        (5.96e-8, 0, "5.96·10⁻⁸"),
        (0, 0, "0"),
        ("two thirds", 0, "two thirds"),
        ([0.5, 2.0, None], 1, "0.5 … 2.0"),
        ([[1.0], [0.5, 0.5]], 3, "2 rows"),
    ],
)
def test_what_the_chapter_prints(value: Any, digits: int, text: str) -> None:
    assert printed({"printed": value, "digits": digits}) == text


def test_a_number_over_seeds_has_its_spread_and_count(report: Report) -> None:
    spread = {"mean": 37.123, "std": 0.456, "n": 3, "per_seed": {}}
    changed = row(report, "ladder.one_block.val_ppl", measured=spread)
    chapter, ours, std, n, verdict = (cell.content for cell in comparison_cells(report, changed))
    assert chapter == "38.07"
    assert ours.startswith("37.12 ")
    assert (std, n) == ("0.46", "3")
    assert changed["verdict"] in verdict
    assert changed["reason"] in verdict
    assert ours_in_words(report, changed) == "37.12 ± 0.46 (3 seeds)"


def test_an_order_shows_its_pairs(report: Report) -> None:
    side = {"std": None, "n": 2, "per_seed": {}}
    pairs = [
        {"smaller": {"mean": 14.0, **side}, "larger": {"mean": 19.0, **side}},
        {"smaller": {"mean": 41.0, **side}, "larger": {"mean": 38.0, **side}},
    ]
    changed = row(report, "ladder.overfitting", measured={"pairs": pairs})
    assert ours_in_words(report, changed) == "14.0 < 19.0, 41.0 ≥ 38.0 (2 seeds)"


def test_without_a_record_there_is_no_number(empty_report: Report) -> None:
    found = row(empty_report, "ladder.one_block.val_ppl")
    assert "not measured" in ours_cell(empty_report, found).content
    _, ours, std, n, _ = (cell.content for cell in comparison_cells(empty_report, found))
    assert "not measured" in ours
    assert (std, n) == ("", "")


def test_what_does_not_count_is_shown_without_a_verdict(demo_report: Report) -> None:
    found = row(demo_report, "ladder.one_block.val_ppl")
    assert found["measured"] is None
    cell = ours_cell(demo_report, found).content
    assert "does not count" in cell
    assert any(character.isdigit() for character in cell)
    assert "✓" not in cell


def test_a_measurement_that_found_none_is_not_one_that_is_missing(report: Report) -> None:
    file, name = "metrics/referent/pool_uniform.json", "referent.pool_uniform.settled_at"
    records = {**report.results.records, file: {"settled_seeds": 0, "settled_at": None}}
    unsettled = replace(report, results=replace(report.results, records=records))
    found = row(report, name, measured=None, reason=None)
    assert ours_in_words(unsettled, found) == "none"
    assert ours_in_words(unsettled, {**found, "reason": "has not run here"}) == "not measured"


def test_a_lost_cell_of_the_chapter_says_so_and_one_that_never_was_is_a_dash(
    report: Report,
) -> None:
    lost = printed_cell(report.results.claim("ladder.head.ppl")).content
    never = printed_cell(report.results.claim("companion.leak.ppl")).content
    assert ">lost<" in lost
    assert "–" not in lost
    assert ">–<" in never
    assert ">–<" in printed_cell(None).content


def test_a_reason_has_real_minus_signs_and_plain_exponents(report: Report) -> None:
    changed = row(report, "ladder.one_block.val_ppl", reason="outside -0.2 to 1e-06")
    *_, verdict = comparison_cells(report, changed)
    assert "outside −0.2 to 1e-06" in verdict.content


def on_an_invented_gpu(report: Report, ablation: str) -> Report:
    """The report, had this one ablation run on a machine of its own."""
    path = f"provenance/ablations/{ablation}.json"
    ours = report.provenance[path]
    theirs = {**ours, "machine": {**ours["machine"], "gpu": "an invented GPU"}}
    return replace(report, provenance={**report.provenance, path: theirs})


def test_a_table_with_numbers_from_two_processors_says_so(report: Report) -> None:
    rows = [("heads", "ladder.heads.ppl"), ("block", "ladder.one_block.val_ppl")]
    both = [("", [name for _, name in rows])]
    elsewhere = on_an_invented_gpu(report, "heads")
    for found, said in ((report, False), (elsewhere, True)):
        for table in (comparison(found, rows, ""), grid(found, "", ("a", "b"), both, "")):
            assert ("Compared across machines: an invented processor" in table) == said
            assert ("an invented processor with an invented GPU" in table) == said
    assert "Compared across" not in comparison(elsewhere, rows[:1], "")
    apart = [rows[0], ("permuted", "positions.permutation_equivariance")]
    assert "Compared across" not in comparison(elsewhere, apart, ""), "a probe is another matter"
    assert "Compared across" in seeds(elsewhere)


def test_attention_beside_the_recurrent_state_and_the_block_may_be_of_two_processors(
    report: Report,
) -> None:
    assert "Compared across" not in recurrent(report)
    elsewhere = on_an_invented_gpu(report, "one_block")
    assert "Compared across machines: an invented processor" in recurrent(elsewhere)


def test_two_generations_of_one_name_are_two_processors(report: Report) -> None:
    rows = [("heads", "ladder.heads.ppl"), ("block", "ladder.one_block.val_ppl")]
    moved = dict(report.provenance)
    for name, model in (("heads", "1"), ("one_block", "2")):
        path = f"provenance/ablations/{name}.json"
        kind = {"cpu_family": "26", "model": model, "stepping": "1", "instructions": None}
        moved[path] = {**moved[path], "machine": {**moved[path]["machine"], "model": kind}}
    table = comparison(replace(report, provenance=moved), rows, "")
    for model in ("1", "2"):
        assert f"an invented processor (family 26, model {model})" in table
