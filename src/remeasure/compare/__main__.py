"""`make compare A=main B=my-branch`: two commits beside each other.

Usage: python -m remeasure.compare A B

A and B are commits, tags, branches or experiments of DVC. Parameters that differ, the numbers and
curves of the stage train with a paired test over common seeds, what else differs, and what the two
models wrote: in the terminal, and as one HTML file under build/compare. Reads git and DVC's cache;
the working tree is not touched.
"""

import argparse
import re
from pathlib import Path

from remeasure.commands import run_command
from remeasure.compare import terminal
from remeasure.compare.comparison import compare
from remeasure.compare.page import page
from remeasure.compare.revisions import resolve
from remeasure.records.files import write_text

FOLDER = Path("build/compare")


def main(words: list[str]) -> None:
    """Read the command line, print the comparison, write the page and name it."""
    parser = argparse.ArgumentParser(
        prog="python -m remeasure.compare", description="Two commits beside each other."
    )
    for name in ("a", "b"):
        parser.add_argument(
            name, metavar=name.upper(), help="a commit, tag, branch or experiment of DVC"
        )
    options = parser.parse_args(words)
    comparison = compare(resolve(options.a), resolve(options.b))
    output = terminal.console()
    terminal.show(comparison, output)
    target = FOLDER / f"{_file_name(options.a)}..{_file_name(options.b)}.html"
    write_text(target, page(comparison))
    output.print(f"\nAs a page: {target}", markup=False, highlight=False, soft_wrap=True)


def _file_name(revision: str) -> str:
    return re.sub(r"[^\w.-]+", "-", revision)


if __name__ == "__main__":
    run_command(main)
