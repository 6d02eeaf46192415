"""`make verify NAME=one_block`: train a committed experiment again and compare; nothing is written.

Usage: python -m remeasure.pipeline.verify NAME [--steps N]

NAME is an entry of `ablations`, or a whole stage name such as referent@pool_two_blocks. With
--steps only the first N steps of each seed are trained and only the curve is compared.
"""

import argparse
import sys
from pathlib import Path

from remeasure import paths
from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.params.reading import read_params
from remeasure.pipeline.curves import differences, read_curve
from remeasure.pipeline.rerun import (
    FAMILIES,
    family_of,
    read_provenance,
    recorded_threads,
    rerun,
    same_kind,
    shortened,
)
from remeasure.pipeline.stages import Drift, drifts
from remeasure.records.files import read_json

BITWISE, ROUNDING, DIFFERENT = "bitwise equal", "equal within rounding growth", "different"


def main(words: list[str]) -> None:
    """Read the command line, train, print the outcome; exit code 1 if it is `different`."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.verify")
    parser.add_argument("name", help="such as one_block, or referent@pool_two_blocks")
    parser.add_argument("--steps", type=int, default=None, help="train the first N steps only")
    options = parser.parse_args(words)
    if options.steps is not None and options.steps < 1:
        raise UserError(f"--steps: {options.steps} is not allowed; at least 1")
    stage = options.name if "@" in options.name else f"ablation@{options.name}"
    drift = drifts(tuple(FAMILIES)).get(stage)
    if drift is None:
        raise UserError(f"{options.name}: no experiment of that name trains")
    _refuse_unless_as_recorded(drift)
    for line in verify(drift, options.steps):
        print(line, flush=True)
        if line.startswith(DIFFERENT):
            sys.exit(1)


def verify(drift: Drift, steps: int | None) -> list[str]:
    """Train the stage's experiment in a scratch folder; the outcome, in one or two lines."""
    family, name = family_of(drift.name)
    params = read_params()
    whole = family.steps(params, name)
    short = steps is not None and steps < whole
    seeds = "its seeds"
    print(f"{drift.name}: training {min(steps or whole, whole)} steps with each of {seeds}")
    settings = shortened(params, drift.name, steps or whole) if short else params
    provenance = read_provenance(drift.name)
    threads = recorded_threads(provenance)
    with rerun(drift.name, drift.command, drift.inputs, settings, threads) as now:
        after = read_curve(now.curve)
        last = max(step for _, step in after)
        found = differences(read_curve(paths.curve(family.folder, name), last), after)
        record = paths.metrics(family.folder, name)
        same_record = short or record.read_bytes() == now.metrics.read_bytes()
        expected = same_kind(provenance, read_json(now.provenance))
    compared = f"{last} steps of the curve" + ("" if short else " and the record")
    if not found and same_record:
        return [f"{BITWISE}: {compared}"]
    if not found:
        return [f"{DIFFERENT}: the curve is bitwise equal, the record {record} is not"]
    beyond = [difference for difference in found if not difference.is_rounding]
    parted = f"the curves part at {found[0]}"
    if beyond:
        return [f"{DIFFERENT}: {parted}; beyond rounding from {beyond[0]}"]
    hint = " (on a machine of this kind they should not part at all)" if expected else ""
    return [f"{ROUNDING}: {compared}; {parted}{hint}"]


def _refuse_unless_as_recorded(drift: Drift) -> None:
    """Other parameters, data or results in the working tree would compare two other things."""
    if not drift.measured:
        raise UserError(f"{drift.name}: was never measured; 'dvc repro {drift.name}' does it")
    changed = (*drift.outputs, *drift.params, *drift.data)
    if changed:
        raise UserError(f"{drift.name}: not as recorded: {'; '.join(changed)}")
    missing = [path for path in drift.inputs if not Path(path).exists()]
    if missing:
        raise UserError(f"{', '.join(missing)}: not found; 'dvc repro' makes it")


if __name__ == "__main__":
    run_command(main)
