"""Let the trained model write: `python -m remeasure.sample --prompt 'ROMEO:' --temperature 0.8`.

Text appears token by token, as it is drawn, with a cache of keys and values.
"""

import argparse
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer

from remeasure import paths
from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.generation.sampling import generate
from remeasure.models.storage import load_model


def main(words: list[str]) -> None:
    """Read the command line and write to the terminal."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.sample", description=__doc__)
    parser.add_argument(
        "--model", type=Path, default=paths.MODEL, help="a model of the stage train"
    )
    parser.add_argument("--prompt", default="ROMEO:\n")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    if options.tokens < 1:
        raise UserError(f"--tokens: {options.tokens} is not allowed; at least 1")
    if not 0 < options.temperature <= 100:
        raise UserError(
            f"--temperature: {options.temperature} is not allowed; above 0, at most 100"
        )
    model, spec, tokenizer_json = load_model(options.model)
    tokenizer = Tokenizer.from_str(tokenizer_json)
    prompt = tokenizer.encode(options.prompt).ids
    if not prompt:
        raise UserError("--prompt: is empty; the model needs something to go on from")
    drawn = generate(
        model,
        prompt,
        spec.context,
        options.temperature,
        torch.Generator().manual_seed(options.seed),
    )
    _stream(tokenizer, prompt, islice(drawn, options.tokens))


def _stream(tokenizer: Tokenizer, prompt: list[int], drawn: Iterable[int]) -> None:
    """Print what is sure: the last character may still be half of one that the next token ends."""
    ids, shown = list(prompt), ""
    for token in drawn:
        ids.append(token)
        text = str(tokenizer.decode(ids)).rstrip("\N{REPLACEMENT CHARACTER}")
        sys.stdout.write(text[len(shown) :])
        sys.stdout.flush()
        shown = text
    print()


if __name__ == "__main__":
    run_command(main)
