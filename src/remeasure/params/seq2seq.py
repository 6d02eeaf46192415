"""Sequence to sequence: a task, an architecture with its sizes, and the lengths of the strings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from remeasure.errors import ParameterError
from remeasure.params.digest import settings_digest
from remeasure.params.model import Count, Width
from remeasure.params.reading import Settings, check, mapping, section
from remeasure.params.training import Budget, TrainingSettings

Length = Annotated[int, Field(ge=1, le=1024)]
Lengths = Annotated[tuple[Length, ...], Field(strict=False)]
Positions = Literal["sinusoidal", "rope", "alibi"]
"""Those without a table, which have no longest string."""


class LearningRate(Settings):
    """How fast an architecture learns: it stands beside its sizes, not in the shared budget."""

    learning_rate: Annotated[float, Field(gt=0, le=100)]


class RecurrentSizes(Settings):
    """One LSTM layer on either side; embeddings, states and attention have one width."""

    d_model: Width


class TransformerSizes(Settings):
    """Blocks of either side, or of the one that there is. The width is even, for sinusoids."""

    d_model: Width
    n_blocks: Count
    n_heads: Count

    @model_validator(mode="after")
    def _fits(self) -> "TransformerSizes":
        if self.d_model % self.n_heads or self.d_model % 2:
            raise ValueError(
                f"d_model {self.d_model} must be even and divisible by n_heads {self.n_heads}"
            )
        return self


class DecoderOnlySizes(TransformerSizes):
    """With only one sequence, positions may also act on the scores of attention."""

    pos: Positions

    @model_validator(mode="after")
    def _turns(self) -> "DecoderOnlySizes":
        width = self.d_model // self.n_heads
        if self.pos == "rope" and width % 2:
            raise ValueError(f"pos rope needs an even head width, not {width}")
        return self


Sizes = RecurrentSizes | TransformerSizes
SIZES: Mapping[str, type[RecurrentSizes] | type[TransformerSizes]] = {
    "lstm": RecurrentSizes,
    "bahdanau": RecurrentSizes,
    "cross_attention": TransformerSizes,
    "decoder_only": DecoderOnlySizes,
}


class StringSettings(Settings):
    """Lengths in letters, and how many strings of each are asked after.

    Batches have any length from the first of `trained` to the last. The curve is evaluated at
    those of `trained`, a trained model at those of `longer` too. `example` is the length of the
    strings whose attention is looked at. `seed` draws the strings that are asked after.
    """

    trained: Annotated[Lengths, Field(min_length=1)]
    longer: Lengths
    example: Length
    count: Annotated[int, Field(ge=1, le=100_000)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]

    @model_validator(mode="after")
    def _in_order(self) -> "StringSettings":
        if list(self.evaluated) != sorted(set(self.evaluated)):
            raise ValueError(f"lengths must grow from trained to longer: {list(self.evaluated)}")
        return self

    @property
    def evaluated(self) -> tuple[int, ...]:
        """All lengths at which a trained model is asked, in order."""
        return (*self.trained, *self.longer)


class Run(Settings):
    """Which task is learned by which architecture."""

    task: Literal["copy", "reverse", "sort"]
    architecture: Literal["lstm", "bahdanau", "cross_attention", "decoder_only"]


@dataclass(frozen=True)
class Seq2SeqPlan:
    """One complete, checked description of a seq2seq stage."""

    task: str
    architecture: str
    sizes: Sizes
    strings: StringSettings
    budget: Budget
    """Already scaled by `training.fraction`."""
    training: TrainingSettings
    addresses: tuple[str, ...]
    """Where in params.yaml all of this stands."""

    @property
    def settings(self) -> str:
        """Digest of all that decides what one seed measures."""
        further = {
            "precision": self.training.precision,
            "task": self.task,
            "architecture": self.architecture,
        }
        return settings_digest(self.sizes, self.strings, self.budget.seedless(), further)


def seq2seq_plan(params: Mapping[str, Any], name: str) -> Seq2SeqPlan:
    """The plan of the entry `seq2seq.runs.<name>`. Raises ParameterError."""
    where = f"seq2seq.runs.{name}"
    run = check(Run, section(params, where), where)
    described = f"seq2seq.architectures.{run.architecture}"
    sizes, rate = _architecture(params, run.architecture, described)
    training = check(TrainingSettings, section(params, "training"), "training")
    return Seq2SeqPlan(
        task=run.task,
        architecture=run.architecture,
        sizes=sizes,
        strings=check(StringSettings, section(params, "seq2seq.strings"), "seq2seq.strings"),
        budget=_budget(params, rate).at(training.fraction),
        training=training,
        addresses=(
            described,
            "seq2seq.strings",
            "seq2seq.budget",
            where,
            "training.fraction",
            "training.precision",
        ),
    )


def _architecture(params: Mapping[str, Any], name: str, where: str) -> tuple[Sizes, LearningRate]:
    entry = mapping(params, where)
    own = {key: entry[key] for key in entry if key in LearningRate.model_fields}
    sizes = {key: value for key, value in entry.items() if key not in own}
    return check(SIZES[name], sizes, where), check(LearningRate, own, where)


def _budget(params: Mapping[str, Any], rate: LearningRate) -> Budget:
    where = "seq2seq.budget"
    shared = mapping(params, where)
    given_elsewhere = {**rate.model_dump(), "evaluated_at": []}
    for key in given_elsewhere:
        if key in shared:
            raise ParameterError(
                f"{where}.{key}: unknown key; learning rates stand with the architectures, lengths"
                " in seq2seq.strings"
            )
    return check(Budget, {**shared, **given_elsewhere}, where)
