"""Train one entry of `normalisation.runs`, and measure it in training and in evaluation mode.

Reads data/tokens.npz; writes metrics/normalisation/NAME.json and plots/normalisation/NAME.csv.
Serves the section on what the norm averages over.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.data.tokens import load_tokens
from remeasure.normalisation.experiment import CURVE_COLUMNS, train_and_ask
from remeasure.params.normalisation import normalisation_plan
from remeasure.params.reading import read_params
from remeasure.records.files import write_csv, write_json


def main(words: list[str]) -> None:
    """Take the name of the run; write its record and its curve."""
    name = one_name(words, "python stages/normalisation.py NAME")
    plan = normalisation_plan(read_params(), name)
    with recorded(paths.provenance("normalisation", name), [paths.TOKENS], plan.addresses):
        trained = train_and_ask(plan, load_tokens(paths.TOKENS), f"normalisation@{name}")
    write_csv(paths.curve("normalisation", name), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics("normalisation", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
