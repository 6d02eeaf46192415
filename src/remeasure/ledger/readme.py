"""The headline table of README.md, made from the ledger: `python -m remeasure.ledger.readme`.

`--check` writes nothing and exits with 1 if the table in the file is not that of the ledger.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.ledger.claims import Claims, read_claims
from remeasure.ledger.ledger import read_ledger
from remeasure.ledger.table import counts, measured, printed
from remeasure.records.files import write_text

README = Path("README.md")
PLACE = re.compile(r"(<!-- headline: .*? -->\n).*?(<!-- end of headline -->)", re.DOTALL)


def main(words: list[str]) -> None:
    """Write the table, or check it with the single word `--check`."""
    if words not in ([], ["--check"]):
        raise UserError("usage: python -m remeasure.ledger.readme [--check]")
    text = README.read_text(encoding="utf-8")
    fresh = with_headline(text, read_claims(), read_ledger())
    if words and fresh != text:
        raise UserError(
            f"{README}: its headline table is not that of the ledger; run 'make readme'"
        )
    if fresh != text:
        write_text(README, fresh)


def with_headline(text: str, claims: Claims, ledger: Mapping[str, Any]) -> str:
    """`text` with the table between its two comments made anew. Raises UserError without them."""
    if not PLACE.search(text):
        raise UserError(f"{README}: has no place for the headline table (two comments mark it)")
    rows = {row["id"]: row for row in ledger["claims"]}
    lines = [
        "| figure | chapter | here | verdict |",
        "|---|---|---|---|",
        *(
            f"| {rows[claim]['what'].rstrip('.')} | {printed(rows[claim])}"
            f" | {measured(rows[claim])} | {rows[claim]['verdict']} |"
            for claim in claims.headlines.values()
        ),
    ]
    table = "\n".join(lines)
    summary = f"All {len(rows)} figures: {counts(rows.values())}."
    return PLACE.sub(lambda found: f"{found[1]}\n{table}\n\n{summary}\n\n{found[2]}", text)


if __name__ == "__main__":
    run_command(main)
