"""Windows of the corpus, the material of two probes. No probe itself.

Shapes: B windows, T tokens.
"""

from torch import Tensor

from remeasure import paths
from remeasure.data.batches import random_windows
from remeasure.data.tokens import Tokens
from remeasure.errors import UserError
from remeasure.training.seeds import generator


def training_windows(
    tokens: Tokens, context: int, windows: int, seed: int
) -> tuple[Tensor, Tensor]:
    """A seed's first batch of training, and for each token the one that follows: [B, T] twice.

    Raises UserError if the training text is shorter than one window.
    """
    try:
        draw = random_windows(tokens.train_N, context, windows)
    except ValueError as error:
        raise UserError(
            f"{paths.TOKENS}: {error}; use a longer text or a shorter context"
        ) from None
    return draw(generator(seed, "data"))
