"""Train one entry of `seq2seq.runs`: one architecture on one task with right answers.

Reads params.yaml alone; writes metrics/seq2seq/NAME.json and plots/seq2seq/NAME.csv. Serves the
section on one vector and the weighted sum.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.params.reading import read_params
from remeasure.params.seq2seq import seq2seq_plan
from remeasure.records.files import write_csv, write_json
from remeasure.seq2seq.experiment import CURVE_COLUMNS, train_and_ask


def main(words: list[str]) -> None:
    """Take the name of the run; write its record and its curve."""
    name = one_name(words, "python stages/seq2seq.py NAME")
    plan = seq2seq_plan(read_params(), name)
    with recorded(paths.provenance("seq2seq", name), [], plan.addresses):
        trained = train_and_ask(plan, f"seq2seq@{name}")
    write_csv(paths.curve("seq2seq", name), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics("seq2seq", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
