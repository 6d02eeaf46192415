"""`make bench`: the project's training loop beside a plain PyTorch one, on this machine.

Usage: python -m remeasure.speed [--rounds N] [--models NAME ...]

Everything runs in turn, round after round (A B A B), so that a machine that slows down slows all
of it. Let nothing else run meanwhile.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table

from remeasure import paths
from remeasure.benchmarks.child import in_child
from remeasure.commands import run_command
from remeasure.params.ablations import ablation_plan
from remeasure.params.reading import read_params, section
from remeasure.progress import Progress
from remeasure.speed.flops import flops_per_token
from remeasure.speed.runs import (
    VOCABULARY,
    Timing,
    bpe_run,
    cores,
    matmul_run,
    plain_run,
    project_run,
)

MODELS = {"one_block": 10, "two_blocks": 6, "norm_pre": 3, "no_context": 25}
"""Ablations that are timed, and how many steps of each in a round: a few seconds' worth."""

WIDTH = 140
BUSY = 0.3
"""A load average above this, before anything of ours runs, is somebody else's work."""


Work = Callable[[], tuple[float, list[Timing]]]
"""Gives a rate, and what else each of the processes measured."""


@dataclass
class Rates:
    """What each round gave: tokens a second, or operations a second."""

    per_round: list[float] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)

    def add(self, rate: float, timings: Sequence[Timing]) -> None:
        """One more round."""
        self.per_round.append(rate)
        self.timings += timings

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.per_round)

    @property
    def peak_bytes(self) -> int:
        """The most memory that one of the processes held."""
        return max(timing.peak_bytes for timing in self.timings)

    @property
    def evaluation_share(self) -> float:
        """The part of a whole run that its evaluations take, the middle round."""
        return statistics.median(timing.evaluation_share or 0.0 for timing in self.timings)

    def shown(self, unit: float, digits: int = 0) -> str:
        """Median and range, in `unit`s."""
        low, high = min(self.per_round) / unit, max(self.per_round) / unit
        return f"{self.median / unit:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def main(words: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.speed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    options = parser.parse_args(words)
    params = read_params()
    # A file has no width; the tables need this much.
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    if (load := os.getloadavg()[0]) > BUSY:
        console.print(f"The load average is {load:.1f}: other work runs, so expect wide ranges.")
    works = _works(params, options.models)
    rates = {name: Rates() for name in works}
    with Progress("speed", options.rounds * len(works), "run") as progress:
        for _ in range(options.rounds):
            for name, work in works.items():
                rate, timings = work()
                rates[name].add(rate, timings)
                progress.advance(name)
    for table in _tables(params, options.models, rates):
        console.print(table)
    _print_bpe(console, section(params, "tokenizer.vocab_size"))


def _print_bpe(console: Console, vocab_size: int) -> None:
    if not paths.CORPUS.exists():
        console.print(
            f"{paths.CORPUS} is not there; after 'dvc repro download' the BPE is timed too"
        )
        return
    seconds = in_child(bpe_run, str(paths.CORPUS), vocab_size)
    table = _table("BPE on the corpus, seconds", "", "ours", "tokenizers")
    for work in ("train", "encode"):
        table.add_row(work, f"{seconds[f'{work} ours']:.2f}", f"{seconds[f'{work} library']:.2f}")
    console.print(table)


def _works(params: Mapping[str, Any], models: Sequence[str]) -> dict[str, Work]:
    """Each thing to time, by name."""
    both = cores()
    works: dict[str, Work] = {
        "matmul 1": lambda: (in_child(matmul_run, 1), []),
        "matmul aside": lambda: (sum(_side_by_side(matmul_run, 1)), []),
    }
    for name in models:
        works |= {
            f"{name} plain 1": partial(_alone, plain_run, params, name, 1),
            f"{name} ours 1": partial(_alone, project_run, params, name, 1),
            f"{name} plain {both}": partial(_alone, plain_run, params, name, both),
            f"{name} ours aside": partial(_aside, params, name),
        }
    return works


def _alone(
    run: Callable[..., Timing], params: Mapping[str, Any], name: str, threads: int
) -> tuple[float, list[Timing]]:
    timing = in_child(run, params, name, threads, MODELS[name])
    return _tokens(params, name) / timing.step_seconds, [timing]


def _aside(params: Mapping[str, Any], name: str) -> tuple[float, list[Timing]]:
    timings = _side_by_side(project_run, params, name, 1, MODELS[name])
    return sum(_tokens(params, name) / timing.step_seconds for timing in timings), timings


def _side_by_side(work: Callable[..., Any], *arguments: object) -> list[Any]:
    """The results of as many processes at once as there are cores."""
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda _: in_child(work, *arguments), range(cores())))


def _tokens(params: Mapping[str, Any], name: str) -> int:
    plan = ablation_plan(params, name)
    return plan.spec.context * plan.budget.batch_size


def _tables(
    params: Mapping[str, Any], models: Sequence[str], rates: Mapping[str, Rates]
) -> list[Table]:
    both = cores()
    speed = _table(
        "Thousand tokens a second: median of the rounds (range)",
        *("", "plain", "ours", "ratio", f"plain, {both} threads", f"ours, {both} at once"),
        *("ratio", f"{both} : 1"),
    )
    share = _table(
        "GFLOP/s, as a share of a matrix multiply on the same threads; peak memory in MB",
        *("", "alone", "share", f"{both} at once", "share", "peak, plain", "peak, ours"),
        "evaluations, share of a run",
    )
    share.add_row(
        "matrix multiply",
        rates["matmul 1"].shown(1e9),
        "1",
        rates["matmul aside"].shown(1e9),
        "1",
    )
    for name in models:
        plain, ours = rates[f"{name} plain 1"], rates[f"{name} ours 1"]
        threaded, aside = rates[f"{name} plain {both}"], rates[f"{name} ours aside"]
        speed.add_row(
            name,
            plain.shown(1e3, 1),
            ours.shown(1e3, 1),
            _ratio(ours, plain),
            threaded.shown(1e3, 1),
            aside.shown(1e3, 1),
            _ratio(aside, threaded),
            _ratio(aside, ours),
        )
        flops = flops_per_token(ablation_plan(params, name).spec, VOCABULARY)
        share.add_row(
            name,
            f"{ours.median * flops / 1e9:.0f}",
            f"{ours.median * flops / rates['matmul 1'].median:.0%}",
            f"{aside.median * flops / 1e9:.0f}",
            f"{aside.median * flops / rates['matmul aside'].median:.0%}",
            f"{max(plain.peak_bytes, threaded.peak_bytes) / 1e6:.0f}",
            f"{ours.peak_bytes / 1e6:.0f}",
            f"{ours.evaluation_share:.1%}",
        )
    return [speed, share]


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    return table


def _ratio(over: Rates, under: Rates) -> str:
    """Median of the ratios round by round, with their range."""
    ratios = [a / b for a, b in zip(over.per_round, under.per_round, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


if __name__ == "__main__":
    run_command(main)
