"""What a position knows of tokens that it must not see: those after it, those of other windows.

Shapes: B windows, T tokens of a window.
"""

from torch import Tensor

from remeasure.models.language_model import LanguageModel
from remeasure.normalisation.modes import in_mode


def later_token(model: LanguageModel, ids_BT: Tensor, vocab_size: int, *, training: bool) -> float:
    """Largest change of a logit before the last position when the last token is another.

    Of the first window, by itself.
    """
    window_BT = ids_BT[:1]
    other_BT = window_BT.clone()
    other_BT[:, -1] = (other_BT[:, -1] + 1) % vocab_size
    with in_mode(model, training):
        change_BTV = (model(other_BT) - model(window_BT))[:, :-1]
    return float(change_BTV.abs().max())


def other_window(model: LanguageModel, ids_BT: Tensor, vocab_size: int, *, training: bool) -> float:
    """Largest change of a logit in all windows but the last when the last window is another."""
    other_BT = ids_BT.clone()
    other_BT[-1] = (other_BT[-1] + 1) % vocab_size
    with in_mode(model, training):
        change_BTV = (model(other_BT) - model(ids_BT))[:-1]
    return float(change_BTV.abs().max())
