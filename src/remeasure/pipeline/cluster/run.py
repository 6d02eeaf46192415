"""`make repro CLUSTER=tcp://scheduler:8786`: what `remeasure.pipeline.repro --cluster` does."""

import tempfile
from pathlib import Path

from remeasure.errors import UserError
from remeasure.pipeline.cluster.asking import measuring, pack, uncommitted
from remeasure.pipeline.cluster.coordinator import Coordinator
from remeasure.pipeline.cluster.options import Limits
from remeasure.pipeline.cluster.workers import DaskWorkers, LocalWorkers, Workers
from remeasure.pipeline.display import Display
from remeasure.pipeline.jobs import interruptible
from remeasure.pipeline.stages import load_stages, read_graph

LOCAL = "local"
"""In place of a scheduler's address: this machine's own executor."""


def run_on_cluster(
    address: str, targets: list[str], limits: Limits, *, jobs: int, per_gpu: int
) -> None:
    """Run all stale stages on the workers. Raises UserError if one failed, or all is not ready."""
    graph = read_graph(targets)
    known = load_stages()
    stages = {name: known[name] for name in graph.before}
    dirty = uncommitted(measuring(stages.values()))
    if dirty:
        raise UserError(f"--cluster: sends a commit, and something differs from it: {dirty}")
    bundle = pack()
    with tempfile.TemporaryDirectory(prefix="remeasure-") as folder, interruptible():
        workers = _workers(address, folder, jobs, per_gpu)
        try:
            with Display() as display:
                if workers.dashboard:
                    display.line(f"Dask's dashboard: {workers.dashboard}")
                run = Coordinator(graph, stages, bundle, workers, limits, Path(folder), display)
                try:
                    run.run()
                finally:
                    run.stop()
        finally:
            workers.close()
    if run.failed:
        raise UserError(
            f"{len(run.failed)} of {len(graph.before)} stages failed:"
            f" {', '.join(sorted(run.failed))}; {len(run.skipped)} that need them did not run"
        )


def _workers(address: str, folder: str, jobs: int, per_gpu: int) -> Workers:
    return LocalWorkers(jobs, folder) if address == LOCAL else DaskWorkers(address, per_gpu)
