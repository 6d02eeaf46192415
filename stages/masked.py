"""Train one entry of `masked.runs` to fill in hidden tokens, and ask it about the held-out split.

Reads data/tokens.npz; writes metrics/masked/NAME.json and plots/masked/NAME.csv. Serves the section
on filling in what is hidden.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.data.tokens import load_tokens
from remeasure.masked.experiment import CURVE_COLUMNS, train_and_ask
from remeasure.params.masked import masked_plan
from remeasure.params.reading import read_params
from remeasure.records.files import write_csv, write_json


def main(words: list[str]) -> None:
    """Take the name of the run; write its record and its curve."""
    name = one_name(words, "python stages/masked.py NAME")
    plan = masked_plan(read_params(), name)
    with recorded(paths.provenance("masked", name), [paths.TOKENS], plan.addresses):
        trained = train_and_ask(plan, load_tokens(paths.TOKENS), f"masked@{name}")
    write_csv(paths.curve("masked", name), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics("masked", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
