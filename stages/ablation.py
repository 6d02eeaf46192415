"""Train and measure one entry of `ablations`.

Reads data/tokens.npz; writes metrics/ablations/NAME.json and plots/ablations/NAME.csv. Serves the
ladder, the division by sqrt(d_k), the norms, the positions, dropout and the leak.
"""

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.data.tokens import load_tokens
from remeasure.experiments.language import CURVE_COLUMNS, train_and_measure
from remeasure.params.ablations import ablation_plan
from remeasure.params.reading import read_params
from remeasure.records.files import write_csv, write_json


def main(words: list[str]) -> None:
    """Take the name of the ablation; write its record and its curve."""
    name = one_name(words, "python stages/ablation.py NAME")
    plan = ablation_plan(read_params(), name)
    with recorded(paths.provenance("ablations", name), [paths.TOKENS], plan.addresses) as run:
        tokens = load_tokens(paths.TOKENS)
        trained = train_and_measure(plan, tokens, f"ablation@{name}", paths.CHECKPOINTS)
        run.seconds_before = trained.seconds_before
    write_csv(paths.curve("ablations", name), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics("ablations", name), trained.record)


if __name__ == "__main__":
    run_stage(main)
