"""How long, on what and with which seeds a model is trained."""

import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from remeasure.errors import ParameterError
from remeasure.params.model import ModelSpec
from remeasure.params.reading import Settings

Steps = Annotated[int, Field(ge=1, le=10_000_000)]
Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0, lt=2**31)], ...], Field(strict=False, min_length=1)
]


class Budget(Settings):
    """One training budget. Steps are optimizer steps, a batch is counted in windows."""

    steps: Steps
    batch_size: Annotated[int, Field(ge=1, le=65536)]
    learning_rate: Annotated[float, Field(gt=0, le=100)]
    warmup_steps: Annotated[int, Field(ge=0, le=10_000_000)]
    evaluate_every: Steps
    evaluated_at: Annotated[tuple[Annotated[int, Field(ge=1, le=65536)], ...], Field(strict=False)]
    seeds: Seeds

    @model_validator(mode="after")
    def _seeds_differ(self) -> "Budget":
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds {list(self.seeds)} name one seed twice")
        return self

    def at(self, fraction: float) -> "Budget":
        """The same budget with its steps, warmup and evaluation interval scaled by `fraction`."""
        return self.model_copy(
            update={
                "steps": max(1, math.ceil(self.steps * fraction)),
                "warmup_steps": math.ceil(self.warmup_steps * fraction),
                "evaluate_every": max(1, math.ceil(self.evaluate_every * fraction)),
            }
        )

    def seedless(self) -> dict[str, Any]:
        """All but the seeds, as plain values: what every seed has in common."""
        return self.model_dump(mode="json", exclude={"seeds"})

    def windows(self, spec: ModelSpec) -> tuple[int, ...]:
        """Window lengths, in tokens, at which a trained `spec` is evaluated.

        Raises ParameterError if a table of learned positions is too short for one of them.
        """
        windows = self.evaluated_at or (spec.context,)
        if spec.pos == "learned" and max(windows) > spec.position_rows:
            raise ParameterError(
                f"n_positions: {spec.position_rows} rows of learned positions cannot be evaluated"
                f" on windows of {max(windows)} tokens; give at least n_positions: {max(windows)}"
            )
        return windows


class TrainingSettings(Settings):
    """What holds for every training. `device` says where to run; no stage depends on it."""

    fraction: Annotated[float, Field(gt=0, le=1)]
    precision: Literal["float32", "tf32"]
    device: Literal["auto", "cpu", "cuda"]
