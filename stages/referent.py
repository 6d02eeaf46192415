"""Train one entry of `referent.runs` on its little language.

Reads params.yaml alone; writes metrics/referent/NAME.json and plots/referent/NAME.csv. Serves the
section on what one head does.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.params.reading import read_params
from remeasure.params.referent import referent_plan
from remeasure.records.files import write_csv, write_json
from remeasure.referent.experiment import CURVE_COLUMNS, train_and_ask


def main(words: list[str]) -> None:
    """Take the name of the run; write its record and its curve."""
    name = one_name(words, "python stages/referent.py NAME")
    plan = referent_plan(read_params(), name)
    with recorded(paths.provenance("referent", name), [], plan.addresses):
        trained = train_and_ask(plan, f"referent@{name}")
    write_csv(paths.curve("referent", name), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics("referent", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
