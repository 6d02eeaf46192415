"""Time of one training step as windows grow longer and batches have fewer of them.

Every batch has the same number of tokens, so what grows is the number of positions that wait for
each other, and with attention the number of scores. Shapes: B windows, T tokens of a window.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from remeasure.benchmarks.timing import choose_device, repeated
from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import parameter_count
from remeasure.params.recurrent import SequenceCostPlan, SequenceCostSettings, Spec
from remeasure.progress import Progress
from remeasure.records.protocol import protocol
from remeasure.recurrent.models import build_model, sequential_steps
from remeasure.training.numerics import set_up
from remeasure.training.seeds import generator, global_seed

ROWS_FITTED = 4
"""Exponents are those of the last four lengths, as where the cost of attention is measured."""
PRECISION = "float32"

Row = dict[str, Any]


def measure(plan: SequenceCostPlan) -> dict[str, Any]:
    """Milliseconds of loss and gradient for every run at every length, and how they grow.

    `parameters` are counted at the shortest length: a table of learned positions has a row for each
    token of a window. `exponents` are slopes of logarithms, time against length;
    `longest_over_shortest` is a ratio of times. Raises ParameterError if the device is not there.
    """
    cost = plan.cost
    chosen = choose_device(cost.device, "recurrent.sequence_cost.device")
    device = set_up(chosen.type, PRECISION)
    rows: list[Row] = []
    with Progress("sequence_cost", len(cost.lengths), "length") as progress:
        for length in cost.lengths:
            rows.append(_row(plan, length, device))
            progress.advance(f"{length} tokens")
    times = {name: [row["runs"][name]["ms"]["median"] for row in rows] for name in plan.specs}
    return {
        "protocol": protocol(plan.settings, None, 1.0),
        "device": device.type,
        "tokens_per_batch": cost.tokens_per_batch,
        "parameters": {
            name: parameter_count(_model(cost, spec, cost.lengths[0]))
            for name, spec in plan.specs.items()
        },
        "exponents": {name: exponent(cost.lengths, ms) for name, ms in times.items()},
        "longest_over_shortest": {name: ms[-1] / ms[0] for name, ms in times.items()},
        "rows": rows,
    }


def exponent(lengths: Sequence[int], ms: Sequence[float]) -> float:
    """The power of the length that the last times grow with."""
    return statistics.linear_regression(
        [math.log(length) for length in lengths[-ROWS_FITTED:]],
        [math.log(value) for value in ms[-ROWS_FITTED:]],
    ).slope


def _row(plan: SequenceCostPlan, length: int, device: torch.device) -> Row:
    return {
        "length": length,
        "batch_size": plan.cost.tokens_per_batch // length,
        "runs": {
            name: {
                "sequential_steps": sequential_steps(spec, length),
                "ms": _time(plan.cost, spec, length, device),
            }
            for name, spec in plan.specs.items()
        },
    }


def _time(
    cost: SequenceCostSettings, spec: Spec, length: int, device: torch.device
) -> Mapping[str, Any]:
    model = _model(cost, spec, length).to(device)
    shape = (cost.tokens_per_batch // length, length)
    draw = generator(cost.seed, "data")
    ids_BT, next_BT = torch.randint(cost.vocab_size, (2, *shape), generator=draw).to(device)

    def step() -> None:
        model.zero_grad(set_to_none=True)
        model.loss(ids_BT, next_BT).backward()

    return repeated(step, device, repeats=cost.repeats, seconds=cost.seconds)


def _model(cost: SequenceCostSettings, spec: Spec, length: int) -> LanguageModel:
    with global_seed(cost.seed, "initialisation"):
        return build_model(spec.model_copy(update={"context": length}), cost.vocab_size)
