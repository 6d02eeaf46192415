"""What stands on the terminal."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from remeasure.ledger import table
from remeasure.ledger.affected import Affected
from remeasure.ledger.claims import Claims
from remeasure.ledger.difference import Change
from remeasure.ledger.ledger import hold

Write = Callable[[Mapping[str, Any]], Path]


def shown(function: Callable[..., None], *arguments: Any) -> str:
    output = Console(file=io.StringIO(), width=table.WIDTH)
    function(*arguments, output)
    text = output.file.getvalue()
    assert isinstance(text, str)
    return text


@pytest.fixture
def rows(
    claims: Claims, records: dict[str, dict[str, Any]], entries: dict[str, Any], write: Write
) -> list[dict[str, Any]]:
    del records["metrics/ablations/leak.json"]
    found: list[dict[str, Any]] = hold(claims, entries, write(records))["claims"]
    return found


def test_columns_are_fixed_and_fit(rows: list[dict[str, Any]]) -> None:
    lines = shown(table.show, rows).splitlines()
    assert tuple(lines[0].split()) == ("claim", "chapter", "measured", "verdict", "stage")
    assert max(map(len, lines)) <= 100
    starts = [lines[0].index(name) for name in table.COLUMNS]
    line = next(line for line in lines if "one_block.val_ppl" in line)
    cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    assert cells[0] == "one_block.val_ppl"
    assert cells[1] == "38.07"
    assert cells[2].startswith("38.07 ± 0.")
    assert cells[2].endswith("(n 5)")
    assert cells[3] == "reproduced"
    assert cells[4] == "ablation@one_block"


def test_no_verdict_is_cut_or_broken(rows: list[dict[str, Any]]) -> None:
    text = shown(table.show, rows)
    assert "…" not in text.replace(" … ", "")
    assert text.count("not measured") == 3  # in its row, above its reason, in the counts


def test_long_names_break_between_their_parts(rows: list[dict[str, Any]]) -> None:
    lines = [line.rstrip() for line in shown(table.show, rows).splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("  block2_crossed_"))
    assert lines[first].split()[0] == "block2_crossed_weight_on_"
    assert lines[first + 1].split() == ["second_noun", "blocks"]
    assert lines[first].endswith("referent@pool_two_")


def test_reasons_and_counts_follow_the_table(rows: list[dict[str, Any]]) -> None:
    text = shown(table.show, rows)
    assert "companion.causal_mask_needed: ablation@leak has not run here" in " ".join(text.split())
    last = text.rstrip().splitlines()[-1]
    assert last == (
        f"{len(rows) - 1} reproduced, 0 close, 0 contradicted, 0 underpowered, 1 not measured"
    )


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"printed": 38.07, "digits": 2}, "38.07"),
        ({"printed": 124439808, "digits": 0}, "124,439,808"),
        ({"printed": 2.98e-8, "digits": 0}, "2.98e-08"),
        ({"printed": 0, "digits": 2}, "0.00"),
        ({"printed": 1.0, "digits": 3}, "1.000"),
        ({"printed": "two thirds", "digits": 0}, "two thirds"),
        ({"printed": [0.5, 2.0, 8192.0, None], "digits": 1}, "0.5000 … 8,192"),
        ({"printed": [[1.0, 0.0], [0.5, 0.5]], "digits": 3}, "2 rows"),
    ],
)
def test_printed_keeps_the_chapters_digits(row: dict[str, Any], text: str) -> None:
    assert table.printed(row) == text


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (None, "–"),
        ({"value": 459760}, "459,760"),
        ({"value": 6.7e-8}, "6.70e-08"),
        ({"value": 0.0}, "0"),
        ({"value": 1032.19}, "1,032"),
        ({"value": 0.95847}, "0.9585"),
        ({"value": [1, 2, 30, None]}, "1 … 30"),
        ({"value": {"64": 49984, "128": 198272}}, "49,984 … 198,272"),
        ({"value": [[1.0, 0.0], [0.5, 0.5]]}, "2 rows"),
        ({"mean": 37.7612, "std": None, "n": 1}, "37.76 (n 1)"),
        ({"mean": 37.7612, "std": 0.1049, "n": 3}, "37.76 ± 0.10 (n 3)"),
        ({"mean": -0.0001, "std": 0.1, "n": 3}, "0.00 ± 0.10 (n 3)"),
        ({"mean": 5146.8, "std": 700.0, "n": 3}, "5146.80 ± 700.00 (n 3)"),
        (
            {"pairs": [{"smaller": {"mean": 14.5, "n": 3}, "larger": {"mean": 18.77, "n": 2}}]},
            "14.50 < 18.77 (n 2)",
        ),
        (
            {"pairs": [{"smaller": {"mean": 2.0, "n": 3}, "larger": {"mean": 1.0, "n": 3}}]},
            "2.000 ≥ 1.000 (n 3)",
        ),
    ],
)
def test_measured_shows_spread_and_seeds(measured: Any, text: str) -> None:
    assert table.measured({"measured": measured, "digits": 2}) == text


def test_affected_lists_times_and_what_is_unknown() -> None:
    found = Affected(
        "src/model.py",
        ("ablation@one_block", "ablation@rope"),
        ("ladder.overfitting",),
        {"ablation@one_block": 4200.0},
    )
    lines = shown(table.show_affected, found).splitlines()
    assert lines[0] == "src/model.py: stages 2, claims 1"
    assert lines[1].split() == ["ablation@one_block", "1", "h", "10", "min"]
    assert lines[2].split() == ["ablation@rope", "unknown"]
    assert lines[-1] == (
        "measuring again: 1 stages in 1 h 10 min, and 1 whose time is not on record"
    )


def test_changes_show_both_verdicts_and_numbers() -> None:
    def row(verdict: str, mean: float) -> dict[str, Any]:
        measured = {"mean": mean, "std": 0.1, "n": 3}
        return {"printed": 38.07, "digits": 2, "verdict": verdict, "measured": measured}

    changed = [
        Change("ladder.x", row("reproduced", 38.0), row("contradicted", 45.0)),
        Change("ladder.y", None, row("close", 39.0)),
    ]
    assert shown(table.show_changes, changed, "main").splitlines() == [
        "ladder.x (chapter: 38.07)",
        "  at main      reproduced   38.00 ± 0.10 (n 3)",
        "  now          contradicted 45.00 ± 0.10 (n 3)",
        "ladder.y (chapter: 38.07)",
        "  at main      no such claim",
        "  now          close        39.00 ± 0.10 (n 3)",
    ]
    assert shown(table.show_changes, [], "main") == "no verdict differs from main\n"
