"""Hold every claim of both chapters against what was measured.

Reads claims.yaml, params.yaml and the records, writes metrics/ledger.json and metrics/summary.json.
Serves every section.
"""

from remeasure import paths
from remeasure.commands import run_stage
from remeasure.ledger.claims import read_claims
from remeasure.ledger.ledger import hold, summary
from remeasure.params.reading import read_params
from remeasure.records.files import write_json


def main(words: list[str]) -> None:
    """Take no words; write the verdicts and their counts."""
    claims = read_claims()
    ledger = hold(claims, read_params())
    write_json(paths.LEDGER, ledger)
    write_json(paths.SUMMARY, summary(claims, ledger))


if __name__ == "__main__":
    run_stage(main)
