"""Train one entry of `recurrent.runs` on the corpus and trace its gradients.

Reads data/tokens.npz; writes metrics/recurrent/NAME.json, plots/recurrent/NAME.csv and
plots/recurrent/NAME_gradient.csv. Serves the section on recurrent state.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.data.tokens import load_tokens
from remeasure.params.reading import read_params
from remeasure.params.recurrent import recurrent_plan
from remeasure.records.files import write_csv, write_json
from remeasure.recurrent.experiment import CURVE_COLUMNS, GRADIENT_COLUMNS, train_and_trace


def main(words: list[str]) -> None:
    """Take the name of the run; write its record, its curve and its gradients."""
    name = one_name(words, "python stages/recurrent.py NAME")
    plan = recurrent_plan(read_params(), name)
    with recorded(paths.provenance("recurrent", name), [paths.TOKENS], plan.addresses) as run:
        tokens = load_tokens(paths.TOKENS)
        trained = train_and_trace(plan, tokens, f"recurrent@{name}", paths.CHECKPOINTS)
        run.seconds_before = trained.seconds_before
    write_csv(paths.curve("recurrent", name), CURVE_COLUMNS, trained.curve)
    write_csv(paths.curve("recurrent", f"{name}_gradient"), GRADIENT_COLUMNS, trained.gradient)
    write_json(paths.metrics("recurrent", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
