"""What is timed, each in a process of its own that has computed nothing before.

Shapes: N tokens of a text.
"""

import os
import resource
import statistics
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from remeasure.data import bpe
from remeasure.data.batches import random_windows
from remeasure.experiments.language import OBSERVED_WINDOWS
from remeasure.models.build import build
from remeasure.params.ablations import ablation_plan
from remeasure.probes.attention_statistics import attention_statistics
from remeasure.speed.plain import PlainModel, train_plainly
from remeasure.training.evaluation import mean_loss
from remeasure.training.loop import train
from remeasure.training.numerics import set_up

VOCABULARY = 1024
HELD_OUT = 45_976
TEXT = 413_784
"""As many tokens as the chapter's splits have; which ones they are moves no time."""
WARM_UP = 2
MATMUL_SIZE = 2048
MATMUL_SECONDS = 1.5


@dataclass(frozen=True)
class Timing:
    """Median seconds of a step, and the most memory that the process held, in bytes.

    `evaluation_share` is the part of a whole run that its evaluations take, None where there are
    none.
    """

    step_seconds: float
    peak_bytes: int
    evaluation_share: float | None = None


def plain_run(params: Mapping[str, Any], name: str, threads: int, steps: int) -> Timing:
    """The plain loop on the ablation `name`."""
    torch.set_num_threads(threads)
    plan = ablation_plan(params, name)
    ids_N = torch.randint(VOCABULARY, (TEXT,))
    model = PlainModel(plan.spec, VOCABULARY)
    seconds = train_plainly(
        model, ids_N, plan.spec.context, plan.budget.batch_size, WARM_UP + steps
    )
    return _timing(seconds)


def project_run(params: Mapping[str, Any], name: str, threads: int, steps: int) -> Timing:
    """The project's own loop on the ablation `name`, without evaluations."""
    torch.set_num_threads(threads)
    plan = ablation_plan(params, name)
    set_up("cpu", plan.training.precision)
    ids_N = torch.randint(VOCABULARY, (TEXT,))
    budget = plan.budget.model_copy(
        update={"steps": WARM_UP + steps, "evaluate_every": WARM_UP + steps}
    )
    ends = [time.perf_counter()]
    model = build(plan.spec, VOCABULARY)
    train(
        model,
        random_windows(ids_N, plan.spec.context, budget.batch_size),
        budget,
        seed=0,
        name=name,
        evaluate=dict,
        on_step=lambda step: ends.append(time.perf_counter()),
    )
    timing = _timing([after - before for before, after in pairwise(ends)])
    start = time.perf_counter()
    mean_loss(model, ids_N[:HELD_OUT], plan.spec.context)
    observed_N = ids_N[: OBSERVED_WINDOWS * plan.spec.context]
    attention_statistics(model, observed_N.view(OBSERVED_WINDOWS, plan.spec.context))
    # At the start, after the fiftieth step, at the end, and of both splits once more.
    times = plan.budget.steps // plan.budget.evaluate_every + 4
    evaluations = times * (time.perf_counter() - start)
    share = evaluations / (evaluations + plan.budget.steps * timing.step_seconds)
    return replace(timing, evaluation_share=share)


def bpe_run(path: str, vocab_size: int) -> dict[str, float]:
    """Seconds to train a BPE on a text and to encode it: ours, and the tokenizers library's."""
    text = Path(path).read_text(encoding="utf-8")
    seconds = {}
    start = time.perf_counter()
    ours = bpe.train(text, vocab_size)
    seconds["train ours"] = time.perf_counter() - start
    theirs = Tokenizer(BPE())
    theirs.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    start = time.perf_counter()
    theirs.train_from_iterator([text], trainer)
    seconds["train library"] = time.perf_counter() - start
    for name, tokenizer in (("ours", ours), ("library", theirs)):
        start = time.perf_counter()
        tokenizer.encode(text)
        seconds[f"encode {name}"] = time.perf_counter() - start
    return seconds


def matmul_run(threads: int) -> float:
    """Float32 operations a second of the product of two square matrices."""
    torch.set_num_threads(threads)
    left, right = torch.randn(2, MATMUL_SIZE, MATMUL_SIZE)
    out = left @ right
    seconds, end = [], time.perf_counter() + MATMUL_SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        torch.mm(left, right, out=out)
        seconds.append(time.perf_counter() - start)
    return 2 * MATMUL_SIZE**3 / statistics.median(seconds)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _timing(seconds: list[float]) -> Timing:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    return Timing(statistics.median(seconds[WARM_UP:]), peak * unit)
