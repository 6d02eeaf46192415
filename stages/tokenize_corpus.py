"""Encode the corpus and split it.

Reads data/corpus.txt and data/tokenizer.json, writes data/tokens.npz and metrics/corpus.json.
Serves the section on the corpus.
"""

from remeasure import paths
from remeasure.commands import run_stage
from remeasure.data.encoding import encode_and_split, load_tokenizer
from remeasure.data.tokens import save_tokens
from remeasure.params.corpus import SplitSettings
from remeasure.params.reading import check, read_params, section
from remeasure.records.files import write_json


def main(words: list[str]) -> None:
    """Take no words; write the token ids of both splits and the counts."""
    split = check(SplitSettings, section(read_params(), "split"), "split")
    tokens, counts = encode_and_split(paths.CORPUS, load_tokenizer(paths.TOKENIZER), split.held_out)
    save_tokens(paths.TOKENS, tokens)
    write_json(paths.CORPUS_METRICS, counts)


if __name__ == "__main__":
    run_stage(main)
