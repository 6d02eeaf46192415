"""Train one model with each seed of a budget, and measure each as soon as it is trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from remeasure.data.batches import Draw
from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.params.training import Budget
from remeasure.progress import Progress
from remeasure.training.interface import Trainable
from remeasure.training.loop import train
from remeasure.training.seeds import global_seed

Model = TypeVar("Model", bound=Trainable)


@dataclass(frozen=True)
class Recipe(Generic[Model]):
    """All but the seeds: how a model is made, fed, watched and, once trained, measured."""

    make: Callable[[], Model]
    """A fresh model on its device, initialised from the global generator."""
    draw: Draw
    evaluate: Callable[[Model], Mapping[str, float]]
    """What a row of the curve shows; `held_out_loss` is among it."""
    measure: Callable[[Model], Mapping[str, float | None]]
    """Numbers of the trained model by their address in the record."""


@dataclass(frozen=True)
class EachSeed:
    """What the seeds gave."""

    measured: Mapping[int, Mapping[str, float | None]]
    curve: list[list[Any]]
    """A row for each seed and step noted, in the order of the columns asked for."""
    parameters: int


def check_text(tokens: Tokens, context: int) -> None:
    """Raise UserError if a split is too short for windows of `context` tokens."""
    if min(len(tokens.train_N), len(tokens.held_out_N)) <= context:
        raise UserError(
            f"the text has {len(tokens.train_N)} training and {len(tokens.held_out_N)} held-out"
            f" tokens: too few for windows of {context}; use a longer text or a shorter context"
        )


def train_each_seed(
    recipe: Recipe[Model], budget: Budget, columns: Sequence[str], label: str
) -> EachSeed:
    """Train with each seed of `budget`; `columns` are those of the curve, `seed` first.

    Raises UserError if a loss is not finite.
    """
    measured: dict[int, Mapping[str, float | None]] = {}
    curve: list[list[Any]] = []
    with Progress(label, budget.steps * len(budget.seeds)) as progress:
        for seed in budget.seeds:
            with global_seed(seed, "initialisation"):
                model = recipe.make()
            rows = _train_seed(recipe, model, budget, seed, label, progress)
            curve += [[seed, *(row.get(name) for name in columns[1:])] for row in rows]
            measured[seed] = recipe.measure(model)
    return EachSeed(measured, curve, sum(p.numel() for p in model.parameters()))


def _train_seed(
    recipe: Recipe[Model], model: Model, budget: Budget, seed: int, label: str, progress: Progress
) -> list[dict[str, Any]]:
    latest = ""

    def evaluate() -> Mapping[str, float]:
        nonlocal latest
        row = recipe.evaluate(model)
        latest = f"seed {seed}, held-out loss {row['held_out_loss']:.3f}"
        return row

    return train(
        model,
        recipe.draw,
        budget,
        seed,
        name=label,
        evaluate=evaluate,
        on_step=lambda step: progress.advance(latest),
    )
