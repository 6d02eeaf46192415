"""The README's headline table is the ledger's, and nobody typed it."""

from pathlib import Path

import pytest

from remeasure.errors import UserError
from remeasure.ledger.claims import read_claims
from remeasure.ledger.ledger import read_ledger
from remeasure.ledger.readme import with_headline

ROOT = Path(__file__).parent.parent.parent


def test_the_committed_table_is_that_of_the_committed_ledger() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ledger = read_ledger(ROOT / "metrics" / "ledger.json")
    assert with_headline(text, read_claims(ROOT / "claims.yaml"), ledger) == text


def test_another_ledger_gives_another_table() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ledger = read_ledger(ROOT / "metrics" / "ledger.json")
    rows = [{**row, "verdict": "contradicted"} for row in ledger["claims"]]
    changed = with_headline(text, read_claims(ROOT / "claims.yaml"), {"claims": rows})
    assert changed != text
    assert f"{len(rows)} contradicted" in changed


def test_a_text_without_a_place_is_refused() -> None:
    ledger = read_ledger(ROOT / "metrics" / "ledger.json")
    with pytest.raises(UserError, match="no place for the headline table"):
        with_headline("# title\n", read_claims(ROOT / "claims.yaml"), ledger)
