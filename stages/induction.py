"""Train one entry of `induction.runs` on random tokens that repeat.

Reads params.yaml alone; writes metrics/induction/NAME.json and plots/induction/NAME.csv.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.induction.experiment import train_and_watch
from remeasure.params.induction import induction_plan
from remeasure.params.reading import read_params
from remeasure.records.files import write_csv, write_json


def main(words: list[str]) -> None:
    """Take the name of the run; write its record and its curve."""
    name = one_name(words, "python stages/induction.py NAME")
    plan = induction_plan(read_params(), name)
    with recorded(paths.provenance("induction", name), [], plan.addresses):
        trained = train_and_watch(plan, f"induction@{name}")
    write_csv(paths.curve("induction", name), trained.columns, trained.curve)
    write_json(paths.metrics("induction", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
