"""A weighted sum: the same two LSTMs, and at each step a look back at every state of the encoder.

Bahdanau, Cho and Bengio 2015, with LSTMs for their GRUs and an encoder that reads forwards only, so
that attention is all that sets it apart from `lstm`.
Shapes: B strings, S source letters, T target letters, D width, V vocabulary.
"""

from typing import final

import torch
from torch import Tensor, nn

from remeasure.seq2seq.translator import Translator


@final
class AdditiveAttention(nn.Module):
    """Scores v . tanh(W q + U k), one query against all keys (their appendix A.1.2)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.score = nn.Linear(d_model, 1, bias=False)

    def forward(self, query_BD: Tensor, projected_BSD: Tensor) -> Tensor:
        """Weights over the source, [B, S]; `projected_BSD` is `key` of its states, made once."""
        mixed_BSD = torch.tanh(self.query(query_BD)[:, None] + projected_BSD)
        return torch.softmax(self.score(mixed_BSD)[..., 0], dim=-1)


@final
class BahdanauTranslator(Translator):
    """Each step reads the last letter and a weighted sum of states, chosen by the state before."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.encoder = nn.LSTM(d_model, d_model, batch_first=True)
        self.attention = AdditiveAttention(d_model)
        self.decoder = nn.LSTMCell(2 * d_model, d_model)
        self.output = nn.Linear(2 * d_model, vocab_size)

    def features(self, source_BS: Tensor, shifted_BT: Tensor) -> Tensor:
        """State and weighted sum of each step, [B, T, 2D]."""
        return self._decode(source_BS, shifted_BT)[0]

    def weights(self, source_BS: Tensor, shifted_BT: Tensor) -> list[Tensor]:
        """One layer of one head."""
        return [self._decode(source_BS, shifted_BT)[1][:, None]]

    def _decode(self, source_BS: Tensor, shifted_BT: Tensor) -> tuple[Tensor, Tensor]:
        states_BSD, (hidden_1BD, cell_1BD) = self.encoder(self.embedding(source_BS))
        projected_BSD = self.attention.key(states_BSD)
        hidden_BD, cell_BD = hidden_1BD[0], cell_1BD[0]
        features, weights = [], []
        for letter_BD in self.embedding(shifted_BT).unbind(1):
            weights_BS = self.attention(hidden_BD, projected_BSD)
            context_BD = (weights_BS[:, None] @ states_BSD)[:, 0]
            read_BE = torch.cat([letter_BD, context_BD], dim=-1)
            hidden_BD, cell_BD = self.decoder(read_BE, (hidden_BD, cell_BD))
            features.append(torch.cat([hidden_BD, context_BD], dim=-1))
            weights.append(weights_BS)
        return torch.stack(features, dim=1), torch.stack(weights, dim=1)
