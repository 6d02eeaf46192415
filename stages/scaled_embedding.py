"""Train one entry of `scaled_embedding.runs`: the block, its embedding multiplied when it is read.

Reads data/tokens.npz; writes metrics/scaled_embedding/NAME.json and the curve beside it in plots/.
Serves the section on heads, tying and the feed-forward share.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.data.tokens import load_tokens
from remeasure.params.reading import read_params
from remeasure.params.scaled_embedding import scaled_embedding_plan
from remeasure.records.files import write_csv, write_json
from remeasure.scaled_embedding.experiment import CURVE_COLUMNS, train_and_evaluate

FAMILY = "scaled_embedding"


def main(words: list[str]) -> None:
    """Take the name of the run; write its record and its curve."""
    name = one_name(words, f"python stages/{FAMILY}.py NAME")
    plan = scaled_embedding_plan(read_params(), name)
    with recorded(paths.provenance(FAMILY, name), [paths.TOKENS], plan.addresses):
        trained = train_and_evaluate(plan, load_tokens(paths.TOKENS), f"{FAMILY}@{name}")
    write_csv(paths.curve(FAMILY, name), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics(FAMILY, name), trained.record)


if __name__ == "__main__":
    run_stage(main)
