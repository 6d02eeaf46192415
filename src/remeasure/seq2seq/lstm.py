"""One vector: an LSTM reads the source, and another writes the target from its last state alone.

Sutskever, Vinyals and Le 2014, with one layer each; the source is read forwards, not reversed as
theirs, since one of the tasks here is to reverse.
Shapes: B strings, S source letters, T target letters, D width, V vocabulary.
"""

from typing import final

from torch import Tensor, nn

from remeasure.seq2seq.translator import Translator


@final
class LstmTranslator(Translator):
    """The encoder's last hidden and cell state, 2D numbers, are all that the decoder gets."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.encoder = nn.LSTM(d_model, d_model, batch_first=True)
        self.decoder = nn.LSTM(d_model, d_model, batch_first=True)
        self.output = nn.Linear(d_model, vocab_size)

    def features(self, source_BS: Tensor, shifted_BT: Tensor) -> Tensor:
        """[B, T, D]."""
        _, last_state = self.encoder(self.embedding(source_BS))
        hidden_BTD: Tensor = self.decoder(self.embedding(shifted_BT), last_state)[0]
        return hidden_BTD

    def weights(self, source_BS: Tensor, shifted_BT: Tensor) -> list[Tensor]:
        """None: there is one vector, and nothing to choose from."""
        return []
