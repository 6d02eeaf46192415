"""Train the byte-level BPE on the corpus.

Reads data/corpus.txt, writes data/tokenizer.json. Serves the section on the corpus.
"""

from remeasure import paths
from remeasure.commands import run_stage
from remeasure.data.bpe import train
from remeasure.data.text import read_text
from remeasure.params.corpus import TokenizerSettings
from remeasure.params.reading import check, read_params, section
from remeasure.records.files import replacing


def main(words: list[str]) -> None:
    """Take no words; write the tokenizer."""
    settings = check(TokenizerSettings, section(read_params(), "tokenizer"), "tokenizer")
    tokenizer = train(read_text(paths.CORPUS), settings.vocab_size)
    with replacing(paths.TOKENIZER) as temporary:
        tokenizer.save(str(temporary))


if __name__ == "__main__":
    run_stage(main)
