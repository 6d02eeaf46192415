"""Train the reader's variant, section `model` of params.yaml.

Reads data/tokens.npz and data/tokenizer.json; writes metrics/train/train.json,
plots/train/train.csv, models/sample.txt and models/model.safetensors. Serves no section: it is the
reader's own experiment.
"""

from remeasure import paths
from remeasure.commands import recorded, run_stage
from remeasure.data.encoding import load_tokenizer
from remeasure.data.tokens import load_tokens
from remeasure.experiments.language import CURVE_COLUMNS, train_and_measure
from remeasure.generation.sampling import sample
from remeasure.models.storage import save_model
from remeasure.params.ablations import variant_plan
from remeasure.params.reading import check, read_params, section
from remeasure.params.sample import SampleSettings
from remeasure.records.files import write_csv, write_json, write_text


def main(words: list[str]) -> None:
    """Take no words; train, measure, sample, keep the first seed's weights."""
    params = read_params()
    plan = variant_plan(params)
    settings = check(SampleSettings, section(params, "sample"), "sample")
    reads, addresses = [paths.TOKENS, paths.TOKENIZER], [*plan.addresses, "sample"]
    with recorded(paths.provenance("train", "train"), reads, addresses) as run:
        tokens = load_tokens(paths.TOKENS)
        tokenizer = load_tokenizer(paths.TOKENIZER)
        trained = train_and_measure(plan, tokens, "train", paths.CHECKPOINTS)
        run.seconds_before = trained.seconds_before
        text = sample(trained.first_model, plan.spec.context, tokenizer, settings)
    save_model(paths.MODEL, trained.first_model, plan.spec, tokenizer.to_str())
    write_text(paths.SAMPLE, text)
    write_csv(paths.curve("train", "train"), CURVE_COLUMNS, trained.curve)
    write_json(paths.metrics("train", "train"), trained.record)


if __name__ == "__main__":
    run_stage(main)
