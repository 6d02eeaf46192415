"""What training and evaluation ask of a model, and no more.

Shapes: B windows, T tokens of a window.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from torch import Tensor
from torch.nn import Parameter


class Trainable(Protocol):
    """A torch module that can tell its loss."""

    training: bool

    def loss(self, ids_BT: Tensor, next_BT: Tensor) -> Tensor:
        """Mean cross-entropy of the next tokens in nats, differentiable."""
        ...

    def summed_loss(self, ids_BT: Tensor, next_BT: Tensor) -> Tensor:
        """Summed cross-entropy in nats, a float64 scalar without gradient."""
        ...

    def train(self, mode: bool = True) -> Any:
        """Training mode on or off, as in torch.nn.Module."""
        ...

    def parameters(self) -> Iterator[Parameter]:
        """As in torch.nn.Module."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """As in torch.nn.Module."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """As in torch.nn.Module."""
        ...
