"""A language model that fills in what is hidden (Devlin et al. 2019, section 3.1, task 1).

Shapes: B windows, T tokens of a window, N hidden tokens, D width, V vocabulary without the mask
symbol.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from remeasure.models.language_model import LanguageModel
from remeasure.ops.loss import linear_cross_entropy, summed_cross_entropy


class MaskedModel(nn.Module):
    """Predicts the tokens behind the mask symbol, whose id is V, from all that is not hidden.

    `model` has an embedding and an output row for V + 1 tokens and no causal mask. The mask symbol
    is never an answer: its output row is left out, so that probabilities are over the V tokens.
    """

    def __init__(self, model: LanguageModel, vocab_size: int) -> None:
        super().__init__()
        self.model, self.mask_id = model, vocab_size

    def features(self, ids_BT: Tensor) -> Tensor:
        """What the output layer reads, [B, T, D]."""
        return self.model.features(ids_BT)

    def logits(self, features_ND: Tensor) -> Tensor:
        """Of the V tokens, [N, V]."""
        return F.linear(features_ND, *self._answers())

    def log_probabilities(self, ids_BT: Tensor, place: int) -> Tensor:
        """Of every token at one place of each window, [B, V]."""
        return self.logits(self.features(ids_BT)[:, place]).log_softmax(-1)

    def loss(self, ids_BT: Tensor, whole_BT: Tensor) -> Tensor:
        """Mean cross-entropy of the hidden tokens in nats, differentiable; shown ones do not count.

        `ids_BT` holds the mask symbol where a token of `whole_BT` is hidden.
        """
        hidden_BT = ids_BT == self.mask_id
        features_ND = self.features(ids_BT)[hidden_BT]
        return linear_cross_entropy(features_ND, *self._answers(), whole_BT[hidden_BT])

    def summed_loss(self, ids_BT: Tensor, whole_BT: Tensor) -> Tensor:
        """Summed cross-entropy of the hidden tokens in nats, a float64 scalar without gradient."""
        hidden_BT = ids_BT == self.mask_id
        features_ND = self.features(ids_BT)[hidden_BT]
        return summed_cross_entropy(features_ND, *self._answers(), whole_BT[hidden_BT])

    def _answers(self) -> tuple[Tensor, Tensor | None]:
        output = self.model.output
        bias: Tensor | None = output.bias
        return output.weight[: self.mask_id], None if bias is None else bias[: self.mask_id]
