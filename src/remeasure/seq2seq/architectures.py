"""The four architectures by name. Nowhere else asks which one is meant."""

from collections.abc import Callable, Mapping

from remeasure.params.seq2seq import Sizes
from remeasure.seq2seq.bahdanau import BahdanauTranslator
from remeasure.seq2seq.cross_attention import CrossAttentionTranslator
from remeasure.seq2seq.decoder_only import DecoderOnlyTranslator
from remeasure.seq2seq.lstm import LstmTranslator
from remeasure.seq2seq.tasks import VOCABULARY_SIZE
from remeasure.seq2seq.translator import Translator

ARCHITECTURES: Mapping[str, Callable[..., Translator]] = {
    "lstm": LstmTranslator,
    "bahdanau": BahdanauTranslator,
    "cross_attention": CrossAttentionTranslator,
    "decoder_only": DecoderOnlyTranslator,
}
"""Each takes the size of its vocabulary, and its sizes by their names in params.yaml."""


def build_translator(architecture: str, sizes: Sizes) -> Translator:
    """A model with PyTorch's default initialisation, drawn from the global generator."""
    return ARCHITECTURES[architecture](VOCABULARY_SIZE, **sizes.model_dump())
