"""What can be said about a cluster on the command line."""

import argparse
from dataclasses import dataclass

from remeasure.errors import UserError


@dataclass(frozen=True)
class Limits:
    """How patient the coordinator is; times in seconds."""

    tries: int = 3
    """How many workers may lose a stage before it counts as failed."""
    stage: float = 6 * 3600.0
    """Longer than that no stage runs."""
    silence: float = 60.0
    """A worker that is not heard of for so long is taken to hang."""
    patience: float = 600.0
    """How long to wait for a worker, or for the scheduler to come back."""
    threads: int = 1
    """OMP_NUM_THREADS of each stage: another number gives other rounding."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of `remeasure.pipeline.repro` that have to do with workers."""
    usual = Limits()
    parser.add_argument("--cluster", metavar="ADDRESS", help="tcp://scheduler:8786, or local")
    parser.add_argument(
        "--tries", type=int, default=usual.tries, help="how often a stage may be lost"
    )
    parser.add_argument(
        "--limit", type=float, default=usual.stage, help="seconds that a stage may take"
    )
    parser.add_argument(
        "--silence", type=float, default=usual.silence, help="seconds after which a worker hangs"
    )
    parser.add_argument(
        "--patience", type=float, default=usual.patience, help="seconds to wait for workers"
    )
    parser.add_argument(
        "--threads", type=int, default=usual.threads, help="threads of each stage on a worker"
    )
    parser.add_argument(
        "--tasks-per-gpu", type=int, default=1, help="stages side by side on one GPU"
    )


def limits_of(options: argparse.Namespace) -> Limits:
    """The limits among parsed options. Raises UserError for one that cannot be used."""
    for name in ("tries", "limit", "silence", "patience", "threads", "tasks_per_gpu"):
        value = getattr(options, name)
        if not value > 0:
            raise UserError(f"--{name.replace('_', '-')}: {value} is not allowed; more than 0")
    return Limits(options.tries, options.limit, options.silence, options.patience, options.threads)
