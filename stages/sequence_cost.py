"""Time a training step of every entry of `recurrent.runs` on windows of growing length.

Reads params.yaml alone; writes metrics/sequence_cost/sequence_cost.json. Serves the section on
recurrent state.
"""

from remeasure import paths
from remeasure.commands import recorded, run_stage
from remeasure.errors import UserError
from remeasure.params.reading import read_params
from remeasure.params.recurrent import sequence_cost_plan
from remeasure.records.files import write_json
from remeasure.recurrent.cost import measure

NAME = "sequence_cost"


def main(words: list[str]) -> None:
    """Take no word; write the record."""
    if words:
        raise UserError("usage: python stages/sequence_cost.py")
    plan = sequence_cost_plan(read_params())
    with recorded(paths.provenance(NAME, NAME), [], plan.addresses):
        record = measure(plan)
    write_json(paths.metrics(NAME, NAME), record)


if __name__ == "__main__":
    run_stage(main)
