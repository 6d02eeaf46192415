"""Recurrent language models, in the frame that the chapter's block stands in.

Shapes: B batch, T tokens, D width of the input, H width of the hidden state.
"""

from torch import Tensor, nn

from remeasure.models.build import build
from remeasure.models.cache import Cache
from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import Block, NoPositions, SubLayer
from remeasure.params.model import ModelSpec
from remeasure.params.recurrent import RecurrentSpec, Spec

CELLS = {"rnn": nn.RNN, "lstm": nn.LSTM}
"""PyTorch's own: the tanh RNN (Elman 1990) and the LSTM (Hochreiter and Schmidhuber 1997)."""


class Recurrence(nn.Module):
    """A mixer that hands one hidden state on from token to token, in order."""

    def __init__(self, cell: nn.RNN | nn.LSTM) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x_BTD: Tensor, cache: Cache | None = None) -> Tensor:
        """[B, T, D] to the hidden states, [B, T, H]. Raises ValueError if a cache is given."""
        if cache is not None:
            raise ValueError("a recurrent state is not kept in a cache of keys and values")
        hidden_BTH, _ = self.cell(x_BTD)
        return hidden_BTH


def build_model(spec: Spec, vocab_size: int) -> LanguageModel:
    """A model with PyTorch's default initialisation, drawn from the global generator."""
    match spec:
        case ModelSpec():
            return build(spec, vocab_size)
        case RecurrentSpec():
            return _build_recurrent(spec, vocab_size)


def sequential_steps(spec: Spec, length: int) -> int:
    """How many times one position has to wait for another in a window of `length` tokens.

    Each hidden state needs the one before it; a layer of attention does all positions at once.
    """
    match spec:
        case ModelSpec():
            return spec.n_blocks
        case RecurrentSpec():
            return length


def _build_recurrent(spec: RecurrentSpec, vocab_size: int) -> LanguageModel:
    embedding = nn.Embedding(vocab_size, spec.d_model)
    cell = CELLS[spec.cell](spec.d_model, spec.d_hidden, batch_first=True)
    # The state replaces the token: no norm, no residual, nothing but the cell.
    sublayer = SubLayer(Recurrence(cell), nn.Identity(), nn.Identity(), residual=False, dropout=0.0)
    output = nn.Linear(spec.d_hidden, vocab_size)
    return LanguageModel(
        embedding, NoPositions(), [Block([sublayer])], nn.Identity(), output, dropout=0.0
    )
