"""`make push` and `make pull`: what one machine measured, no other measures again.

Usage: python -m remeasure.pipeline.share push|pull [--remote ADDRESS]

Results are shared through a DVC remote by the content of what they were made from: command,
parameters, source and data. `push` sends what every up-to-date stage made, and what older runs
left in DVC's run cache. `pull` restores what the remote has for the working tree as it is, and
says what nobody measured yet. Both look whether all of it arrived.
"""

import argparse
from collections.abc import Iterable

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.pipeline import run_cache
from remeasure.pipeline.integrity import distrust_damaged
from remeasure.pipeline.remote import Remote, choose, remote_errors
from remeasure.pipeline.stages import locked_repo, read_graph, restore, stale
from remeasure.records.provenance import provenance_of

NAMES_SHOWN = 5


def main(words: list[str]) -> None:
    """Read the command line and share."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.share")
    parser.add_argument("direction", choices=("push", "pull"))
    parser.add_argument("--remote", help="a folder, an address or a name; kept for the next time")
    options = parser.parse_args(words)
    if options.remote:
        choose(options.remote)
    for line in distrust_damaged():
        print(line, flush=True)
    with remote_errors():
        if options.direction == "push":
            push()
        else:
            pull()


def push() -> None:
    """Send all results that are up to date, objects before the entries that name them.

    Raises UserError if something did not arrive.
    """
    with locked_repo() as repo:
        remote = Remote(repo)
        fresh = {stage.addressing: stage for stage in repo.index.stages if not stage.changed()}
        entries = {name: run_cache.keep(stage) for name, stage in fresh.items()}
        older = [run_cache.read(repo, name) for name in run_cache.names(repo)]
        whole = [entry for entry in older if entry and entry.is_here]
        sent = remote.send_objects(set().union(*(entry.objects for entry in whole)))
        there = remote.entries()
        new = [entry.name for entry in whole if entry.name not in there]
        for name in new:
            remote.send_entry(name, run_cache.file_of(repo, name))
        for stage, entry in entries.items():
            if (provenance := provenance_of(stage)).is_file():
                remote.send_provenance(entry.name, provenance)
        behind = {stage.addressing for stage in repo.index.stages} - set(fresh)
    print(f"{remote.address}: {len(fresh)} stages are there; {sent} objects, {len(new)} runs new")
    if behind:
        print(f"{len(behind)} are not up to date and stay behind: {_some(behind)}")


def pull() -> None:
    """Restore, stage by stage in their order, what the remote has for the inputs at hand.

    Raises UserError if the remote names a result but does not have it.
    """
    before = read_graph([]).before
    address, known = _fetch_entries()
    done: set[str] = set()
    restored: set[str] = set()
    lost: set[str] = set()
    absent: set[str] = set()
    while ready := {name for name in set(before) - done - lost - absent if before[name] <= done}:
        to_do = stale(list(ready))
        here, missing = _fetch(to_do, known)
        _restore(here)
        restored |= here
        lost |= missing
        absent |= to_do - here - missing
        done |= ready - to_do | here
    waiting = set(before) - done - lost - absent
    print(f"{address}: {len(restored)} stages restored, {len(done - restored)} as they were")
    if absent:
        print(f"{len(absent)} not there for these inputs; 'make repro' runs them: {_some(absent)}")
    if waiting:
        print(f"{len(waiting)} that need what is missing: {_some(waiting)}")
    if lost:
        raise UserError(
            f"{address} knows of {_some(lost)}, but does not have what was made, or damaged:"
            " 'make push' from where it was measured (plain 'dvc push --run-cache' leaves out what"
            " git keeps), or measure it here with 'make repro'"
        )


def _fetch_entries() -> tuple[str, set[str]]:
    """Bring the remote's run cache here; the remote's address and the names of its entries."""
    with locked_repo() as repo:
        remote = Remote(repo)
        known = remote.entries()
        for name in known - set(run_cache.names(repo)):
            remote.fetch_entry(name, run_cache.file_of(repo, name))
        return remote.address, known


def _fetch(names: set[str], known: set[str]) -> tuple[set[str], set[str]]:
    """Bring here what these stages would make: those that can be restored now, those that are lost.

    Lost is what an entry on the remote, one of `known`, names and the remote does not have.
    """
    here, lost = set(), set()
    with locked_repo() as repo:
        remote = Remote(repo)
        for stage in repo.index.stages:
            entry = run_cache.to_restore(stage) if stage.addressing in names else None
            if entry is None:
                continue
            remote.fetch_objects(entry.named)
            remote.fetch_objects(entry.objects)
            if entry.is_here:
                remote.fetch_provenance(entry.name, provenance_of(stage.addressing))
                here.add(stage.addressing)
            elif entry.name in known:
                lost.add(stage.addressing)
    return here, lost


def _restore(names: set[str]) -> None:
    """Let DVC check out what is in its cache. Raises UserError if a stage is stale after it."""
    if names:
        restore(sorted(names))
    if left := stale(sorted(names)):
        raise UserError(f"{_some(left)}: DVC had all of it, but did not restore it; 'dvc repro'")


def _some(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    ordered = sorted(names)
    more = len(ordered) - NAMES_SHOWN
    return ", ".join(ordered[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


if __name__ == "__main__":
    run_command(main)
