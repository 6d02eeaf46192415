"""`make table`: experiments below each other, headline numbers and differing parameters only.

Usage: python -m remeasure.compare.table [--all]

The working tree if it differs, the current commit, and the experiments of DVC that started from it;
with --all those of all commits. What differs is counted from the current commit. Fits 100 columns.
"""

import argparse
from collections.abc import Iterator, Sequence

from rich.text import Text

from remeasure.commands import run_command
from remeasure.compare import differences, terminal, wording
from remeasure.compare.comparison import TRAIN, measured_with_others
from remeasure.compare.revisions import Revision, WorkingTree, experiments, resolve

NUMBERS = {
    "held-out\nperplexity": "held_out.perplexity",
    "bits per\nbyte": "held_out.bits_per_byte",
    "training\nperplexity": "training.perplexity",
    "\nparameters": "parameters",
}
"""Headings, and addresses in the record of the stage `train`."""


def main(words: list[str]) -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.compare.table")
    parser.add_argument("--all", action="store_true", help="experiments of all commits")
    options = parser.parse_args(words)
    head = resolve("HEAD")
    listed = list(_listed(head, options.all))
    differing = [_differing(each, head) for each in listed]
    shared = _shared([each for each in differing if each])
    output = terminal.console()
    if shared:
        output.print(Text(f"In all but HEAD: {', '.join(shared)}"))
    headings = ("\nexperiment", *NUMBERS, "\nseeds", "differs\nfrom HEAD")
    rows = [
        (*_numbers(each), "\n".join(item for item in items if item not in shared))
        for each, items in zip(listed, differing, strict=True)
    ]
    terminal.table(output, headings, rows)
    for each in listed:
        record = each.json(TRAIN)
        if record is not None and measured_with_others(each.params(), record):
            output.print(
                Text(
                    f"Note: {each.title}: measured with other parameters than these; 'dvc repro"
                    " train' measures them.",
                    style="yellow",
                )
            )


def _listed(head: Revision, all_commits: bool) -> Iterator[Revision]:
    tree = WorkingTree("working tree", "")
    if tree.params() != head.params() or tree.json(TRAIN) != head.json(TRAIN):
        yield tree
    yield head
    for experiment in experiments():
        if all_commits or experiment.baseline == head.commit:
            yield experiment.revision


def _differing(revision: Revision, head: Revision) -> list[str]:
    """Parameters that are not those of `head`, as `-S` takes them."""
    return [
        f"{each.address}={wording.value(each.b)}"
        for each in differences.parameters(head.params(), revision.params())
    ]


def _shared(differing: Sequence[list[str]]) -> list[str]:
    """What stands in each of several lists: it is said once, and the rows keep what tells them."""
    if len(differing) < 2:
        return []
    return [item for item in differing[0] if all(item in other for other in differing)]


def _numbers(revision: Revision) -> list[str]:
    """The name, the headline numbers, the number of seeds."""
    found = {each.address: each.a for each in differences.metrics(revision.json(TRAIN) or {}, {})}
    numbers = [found.get(address) for address in NUMBERS.values()]
    seeds = next((str(number.n) for number in numbers if number and number.n), wording.NOTHING)
    return [revision.name, *map(wording.spread, numbers), seeds]


if __name__ == "__main__":
    run_command(main)
