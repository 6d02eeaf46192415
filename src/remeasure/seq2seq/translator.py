"""What the four architectures have in common: a prediction of the target and its loss.

Shapes: B strings, S source letters, T target letters (as many), N = 2S tokens of a sequence without
its last, F features, H heads, V vocabulary.
"""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from remeasure.ops.loss import linear_cross_entropy, summed_cross_entropy
from remeasure.seq2seq.tasks import split


class Translator(nn.Module, ABC):
    """Reads a source and writes a target, one letter after the other.

    Its loss counts the target alone: no letter of the source is ever predicted. `shifted_BT` is
    what the decoder reads, the separator and then the target without its last letter.
    """

    output: nn.Linear
    """From features to logits."""

    @abstractmethod
    def features(self, source_BS: Tensor, shifted_BT: Tensor) -> Tensor:
        """What the output layer reads, [B, T, F]; at a place it depends on no later letter."""

    @abstractmethod
    def weights(self, source_BS: Tensor, shifted_BT: Tensor) -> list[Tensor]:
        """Attention of each target place to the source, [B, H, T, S] a layer; empty without any."""

    def forward(self, source_BS: Tensor, shifted_BT: Tensor) -> Tensor:
        """Logits of each target letter, given the source and the letters before it: [B, T, V]."""
        logits_BTV: Tensor = self.output(self.features(source_BS, shifted_BT))
        return logits_BTV

    def loss(self, ids_BN: Tensor, next_BN: Tensor) -> Tensor:
        """Mean cross-entropy of the target's letters, in nats, differentiable."""
        features_MF, target_M = self._asked(ids_BN, next_BN)
        return linear_cross_entropy(features_MF, self.output.weight, self.output.bias, target_M)

    def summed_loss(self, ids_BN: Tensor, next_BN: Tensor) -> Tensor:
        """Summed cross-entropy of the target's letters, in nats: float64, without gradient."""
        features_MF, target_M = self._asked(ids_BN, next_BN)
        return summed_cross_entropy(features_MF, self.output.weight, self.output.bias, target_M)

    def _asked(self, ids_BN: Tensor, next_BN: Tensor) -> tuple[Tensor, Tensor]:
        """Features and right answers of all M = B x T target letters."""
        _, target_BT = split(next_BN)
        return self.features(*split(ids_BN)).flatten(0, 1), target_BT.flatten()
