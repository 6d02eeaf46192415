"""Three norms of one shape, and how one takes another's place in a model.

Shapes: B windows, T tokens of a window, D width.
"""

from collections.abc import Callable, Mapping

from torch import Tensor, nn

EPSILON = 1e-5
"""Added to every mean square or variance, PyTorch's for a LayerNorm."""


class SingleValue(ValueError):
    """A BatchNorm in training mode was given one value a feature, which has no variance."""


class BatchNorm(nn.Module):
    """Each feature over all tokens of all windows (Ioffe and Szegedy 2015, algorithms 1 and 2).

    In training mode mean and variance are the batch's own, and running ones follow them; in
    evaluation mode the running ones are used.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(d_model, eps=EPSILON)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """[B, T, D] to [B, T, D]. Raises SingleValue for one token in training mode."""
        if self.training and x_BTD.shape[:-1].numel() == 1:
            raise SingleValue("one token in training mode has no variance over the batch")
        return self.norm(x_BTD.flatten(0, 1)).view_as(x_BTD)


NORMS: Mapping[str, Callable[[int], nn.Module]] = {
    "layer": lambda d_model: nn.LayerNorm(d_model, eps=EPSILON),
    "batch": BatchNorm,
    # Zhang and Sennrich (2019, equation 4): each token over its features, without their mean.
    "rms": lambda d_model: nn.RMSNorm(d_model, eps=EPSILON),
}
"""By the name that params.yaml gives. All start with a gain of one, and without a shift."""


def exchange(model: nn.Module, kind: str) -> None:
    """Put norms of that kind in place of every LayerNorm in `model`; nothing is drawn at random."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.LayerNorm):
                setattr(module, name, NORMS[kind](child.normalized_shape[0]))
