"""The state of an unfinished training, so that a killed one goes on where it was, bit for bit.

A checkpoint is a cache: it holds what was computed from exactly these parameters and inputs, named
by their hash. Those of finished seeds stay until the last seed of a stage is done.
"""

import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from remeasure.records.files import replacing
from remeasure.training.interface import Trainable

SECONDS_BETWEEN = 60.0
"""Writing takes a tenth of a second, so a minute between two keeps its cost unseen."""

log = logging.getLogger(__name__)


@dataclass
class Training:
    """Everything that the next step depends on, and the curve up to here."""

    model: Trainable
    optimizer: torch.optim.Optimizer
    data_generator: torch.Generator
    step: int
    rows: list[dict[str, Any]]


class Checkpoint:
    """One file for one training, written now and then.

    `key` names the parameters, inputs and seed; a file of another key is ignored with a warning,
    and so is a damaged one.
    """

    def __init__(self, path: Path, key: str, seconds_between: float = SECONDS_BETWEEN) -> None:
        self._path, self._key, self._seconds = path, key, seconds_between
        self._last = self._started = time.monotonic()
        self.seconds_before = 0.0
        """Spent by earlier processes on the state that was restored."""

    def restore(self, training: Training) -> None:
        """Put the kept state, if there is one for this key, into `training`."""
        if not self._path.exists():
            return
        try:
            tensors, notes = _read(self._path)
            if notes["key"] != self._key:
                log.warning("%s belongs to another training; starting afresh", self._path)
                return
            _put(training, tensors, notes)
            self.seconds_before = float(notes["seconds"])
        except (SafetensorError, OSError, KeyError, ValueError, RuntimeError) as error:
            log.warning("%s cannot be used (%s); starting afresh", self._path, type(error).__name__)

    def keep(self, training: Training, *, finished: bool = False) -> None:
        """Write the state if enough time has passed since the last time, or if it is the last."""
        if not finished and time.monotonic() - self._last < self._seconds:
            return
        notes = {
            "key": self._key,
            "step": training.step,
            "rows": training.rows,
            "seconds": self.seconds_before + time.monotonic() - self._started,
        }
        with replacing(self._path) as temporary:
            save_file(_tensors(training), temporary, metadata={"notes": json.dumps(notes)})
        self._last = time.monotonic()

    def remove(self) -> None:
        """Forget the state: what was trained has been measured."""
        self._path.unlink(missing_ok=True)


def _tensors(training: Training) -> dict[str, Tensor]:
    tensors = {
        f"model.{name}": tensor.detach().clone().contiguous()
        for name, tensor in training.model.state_dict().items()
    }
    for index, state in training.optimizer.state_dict()["state"].items():
        for name, value in state.items():
            tensors[f"optimizer.{index}.{name}"] = value.detach().clone().contiguous()
    tensors["generator.data"] = training.data_generator.get_state()
    tensors["generator.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["generator.cuda"] = torch.cuda.get_rng_state()
    return tensors


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    with safe_open(path, framework="pt") as file:
        notes = json.loads(file.metadata()["notes"])
        return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118


def _put(training: Training, tensors: dict[str, Tensor], notes: dict[str, Any]) -> None:
    model = {
        name.removeprefix("model."): tensor
        for name, tensor in tensors.items()
        if name.startswith("model.")
    }
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, index, key = name.split(".", 2)
            state.setdefault(int(index), {})[key] = tensor
    optimizer = training.optimizer.state_dict()
    training.model.load_state_dict(model)
    training.optimizer.load_state_dict({**optimizer, "state": state})
    training.data_generator.set_state(tensors["generator.data"])
    torch.set_rng_state(tensors["generator.cpu"])
    if torch.cuda.is_available() and "generator.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["generator.cuda"])
    training.step = notes["step"]
    training.rows[:] = notes["rows"]
