"""`python -m remeasure.ledger`: the book's claims against what was measured.

Without a command, the table. Its exit code is 0, or 1 with --strict if a claim is contradicted.
"""

import argparse

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.ledger import table
from remeasure.ledger.affected import affected, relative_to_root
from remeasure.ledger.claims import read_claims
from remeasure.ledger.difference import changes, ledger_at
from remeasure.ledger.graph import read_stages
from remeasure.ledger.ledger import hold, read_ledger
from remeasure.ledger.pins import write_pins
from remeasure.ledger.verdicts import Verdict
from remeasure.params.reading import read_params


def main(words: list[str]) -> None:
    """Read the command line and run one command."""
    options = _parser().parse_args(words)
    options.run(options)


def _table(options: argparse.Namespace) -> None:
    rows = hold(read_claims(), read_params())["claims"]
    sections = list(dict.fromkeys(row["section"] for row in rows))
    if options.section and options.section not in sections:
        raise UserError(f"--section: {options.section!r} is not one of {', '.join(sections)}")
    rows = [row for row in rows if options.section in (None, row["section"])]
    shown = [row for row in rows if options.verdict in (None, row["verdict"])]
    table.show(shown, table.console())
    contradicted = sum(row["verdict"] == Verdict.CONTRADICTED for row in rows)
    if options.strict and contradicted:
        raise UserError(f"--strict: contradicted claims: {contradicted}")


def _affected(options: argparse.Namespace) -> None:
    stages = read_stages(read_params())
    found = affected(relative_to_root(options.file), stages, read_claims())
    table.show_affected(found, table.console())


def _diff(options: argparse.Namespace) -> None:
    found = changes(ledger_at(options.revision), read_ledger())
    table.show_changes(found, options.revision, table.console())


def _pin(options: argparse.Namespace) -> None:
    changed = write_pins(read_params())
    print("\n".join(changed) or "every pin is as params.yaml has it")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m remeasure.ledger",
        description="The book's claims against what was measured.",
    )
    parser.set_defaults(run=_table)
    parser.add_argument(
        "--verdict",
        type=lambda word: word.replace("_", " "),
        choices=list(map(str, Verdict)),
        help="show these rows only",
    )
    parser.add_argument("--section", help="look at this section only")
    parser.add_argument(
        "--strict", action="store_true", help="exit code 1 if a claim looked at is contradicted"
    )
    commands = parser.add_subparsers(title="commands")
    at_risk = commands.add_parser("affected", help="stages and claims that a change puts at risk")
    at_risk.add_argument("file", help="a path, or an address such as params.yaml:base")
    at_risk.set_defaults(run=_affected)
    diff = commands.add_parser("diff", help="verdicts that differ from those of a commit")
    diff.add_argument("revision", help="a commit, tag or branch")
    diff.set_defaults(run=_diff)
    pin = commands.add_parser("pin", help="write the settings in params.yaml into claims.yaml")
    pin.set_defaults(run=_pin)
    return parser


if __name__ == "__main__":
    run_command(main)
