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
    outcome = verify(drift, options.steps)
    print(outcome)
    if outcome.startswith(DIFFERENT):
        sys.exit(1)


def verify(drift: Drift, steps: int | None) -> str:
    """Train the stage's experiment in a scratch folder; the outcome in one line."""
    family, name = family_of(drift.name)
    params = read_params()
    short = steps is not None and steps < family.plan(params, name).budget.steps
    settings = shortened(params, drift.name, steps) if short and steps else params
    provenance, record = read_provenance(drift.name), paths.metrics(family.folder, name)
    threads = recorded_threads(provenance)
    with rerun(drift.name, drift.command, drift.inputs, settings, threads, quiet=False) as now:
        after = read_curve(now.curve)
        last = max(step for _, step in after)
        found = differences(read_curve(paths.curve(family.folder, name), last), after)
        same_record = short or record.read_bytes() == now.metrics.read_bytes()
        of_a_kind = same_kind(provenance, read_json(now.provenance))
    compared = f"{last} steps" + ("" if short else " and the record")
    beyond = [difference for difference in found if not difference.is_rounding]
    if beyond:
        return f"{DIFFERENT}: the curves part at {found[0]}; beyond rounding from {beyond[0]}"
    if found:
        hint = "; processor, threads and versions are named as on record" if of_a_kind else ""
        return f"{ROUNDING}: {compared}; the curves part at {found[0]}{hint}"
    if not same_record:
        return f"{DIFFERENT}: the curves are bitwise equal, but {record} is not"
    return f"{BITWISE}: {compared}"


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
