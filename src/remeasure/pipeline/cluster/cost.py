"""What sending a stage costs besides its training: seconds and bytes, on this machine's loopback.

Usage: python -m remeasure.pipeline.cluster.cost [STAGE] [--rounds N]

A scheduler and workers are started here. Each is sent the commit at hand, the inputs of STAGE and,
in place of its command, one that puts its committed results back: what remains is the cost. The
first time a worker gets everything (cold), then next to nothing (warm). Nothing in this folder
changes.
"""

import argparse
import json
import logging
import shlex
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.pipeline.cluster.accepting import refusal
from remeasure.pipeline.cluster.asking import Bundle, Errand, errand, pack
from remeasure.pipeline.cluster.workers import DaskWorkers, Machine
from remeasure.pipeline.stages import load_stages

SECONDS_TO_WAIT = 60.0


@dataclass(frozen=True)
class Cost:
    """Of one sending: seconds besides the command itself, bytes both ways, questions asked."""

    seconds: float
    sent: int
    received: int
    rounds: int


def main(words: list[str]) -> None:
    """Measure and print. Raises UserError if STAGE has no committed results or lacks an input."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.cluster.cost")
    parser.add_argument("stage", nargs="?", default="ablation@one_block")
    parser.add_argument("--rounds", type=int, default=3, help="workers, and sendings to the last")
    options = parser.parse_args(words)
    stages = load_stages()
    if options.stage not in stages:
        raise UserError(f"{options.stage}: no such stage")
    bundle = pack()
    what = _idle(errand(stages[options.stage], bundle, seconds=60, threads=1))
    size = sum(Path(path).stat().st_size for path in what.request["files"])
    print(f"commit with its history: {len(bundle.content):,} bytes; {options.stage} reads {size:,}")
    cold, warm = measure(what, bundle, options.rounds)
    _print("cold (first of a commit on a worker)", cold)
    _print("warm", warm)


def measure(what: Errand, bundle: Bundle, rounds: int) -> tuple[list[Cost], list[Cost]]:
    """The first sending to each of so many workers, and as many more to the last of them."""
    with (
        tempfile.TemporaryDirectory(prefix="remeasure-") as folder,
        LocalCluster(
            n_workers=rounds,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        workers = DaskWorkers(cluster.scheduler_address)
        try:
            machines = _wait_for(workers, rounds)
            cold = [_send(workers, machine, what, bundle) for machine in machines]
            warm = [_send(workers, machines[-1], what, bundle) for _ in range(rounds)]
        finally:
            workers.close()
    return cold, warm


def _idle(what: Errand) -> Errand:
    results = [*what.request["outputs"], *what.request["notes"]]
    command = shlex.join(["git", "checkout", "--quiet", "HEAD", "--", *results])
    return replace(what, request={**what.request, "command": command, "attempt": "cost"})


def _wait_for(workers: DaskWorkers, count: int) -> list[Machine]:
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while len(machines := workers.machines()) < count:
        if time.monotonic() > deadline:
            raise UserError(f"{count} workers did not start within {SECONDS_TO_WAIT:.0f} s")
        time.sleep(0.1)
    return machines


def _send(workers: DaskWorkers, machine: Machine, what: Errand, bundle: Bundle) -> Cost:
    started, sent, rounds = time.monotonic(), 0, 0
    contents: dict[str, bytes] = {}
    while True:
        sent += _size(what.request) + sum(len(content) for content in contents.values())
        rounds += 1
        reply = machine.executor.submit(workers.task, what.request, contents).result()
        if reply["outcome"] != "lacks":
            break
        contents = {md5: what.content(md5, bundle) for md5 in reply["lacks"]}
    if reply["outcome"] != "done":
        raise UserError(f"{machine.name}: {reply.get('reason')}; {' '.join(reply.get('log', []))}")
    wrong = refusal({**what.request, "notes": []}, _without(reply, what.request["notes"]))
    if wrong:
        raise UserError(f"{machine.name}: {wrong}")
    seconds = time.monotonic() - started - reply["seconds"]["command"]
    received = sum(len(content) for content in reply["files"].values()) + _size(reply["entry"])
    return Cost(seconds, sent, received, rounds)


def _without(reply: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """The committed provenance names the commit that measured, not the one at hand."""
    files = {path: content for path, content in reply["files"].items() if path not in notes}
    return {**reply, "files": files}


def _size(content: Mapping[str, Any]) -> int:
    """About what a mapping takes on its way."""
    return len(json.dumps(content))


def _print(what: str, costs: list[Cost]) -> None:
    seconds = [cost.seconds for cost in costs]
    print(
        f"{what}: {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}, n"
        f" {len(costs)}), {costs[0].sent:,} bytes there in {costs[0].rounds} messages,"
        f" {costs[0].received:,} back"
    )


if __name__ == "__main__":
    run_command(main)
