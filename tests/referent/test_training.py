import pytest
import torch
from torch import nn

from remeasure.errors import UserError
from remeasure.models.build import build
from remeasure.params.training import Budget
from remeasure.referent.language import LANGUAGES, VOCABULARY, encode, sentences
from remeasure.referent.training import train_on_sentences
from remeasure.training.seeds import generator, global_seed

BUDGET = Budget(
    steps=70,
    batch_size=16,
    learning_rate=1e-2,
    warmup_steps=0,
    evaluate_every=60,
    evaluated_at=(),
    seeds=(0,),
)
SENTENCES = encode(sentences(LANGUAGES["category"].pairs()[:10]))


@pytest.fixture
def trained(sentence_spec):
    """Trains a small model; returns it with its curve. `watch` sees each batch."""
    spec = sentence_spec.model_copy(update={"dropout": 0.1})

    def train_it(budget=BUDGET, seed=0, watch=lambda module, args: None):
        with global_seed(seed, "initialisation"):
            model = build(spec, len(VOCABULARY))
        model.embedding.register_forward_pre_hook(watch)
        steps = []
        rows = train_on_sentences(
            model,
            SENTENCES,
            budget,
            seed,
            evaluate=lambda: {"accuracy": float(len(steps))},
            on_step=lambda: steps.append(1),
        )
        return model, rows

    return train_it


def test_it_learns_the_sentences(trained):
    _, rows = trained()
    assert rows[-1]["batch_loss"] < rows[1]["batch_loss"] / 2


def test_the_curve_has_the_first_steps_and_the_evaluations(trained):
    _, rows = trained()
    assert [row["step"] for row in rows] == [*range(51), 60, 70]
    assert [row["step"] for row in rows if "accuracy" in row] == [0, 60, 70]
    assert rows[0]["batch_loss"] is None


def test_a_batch_is_whole_sentences_from_the_given_ones(trained):
    known = {tuple(row) for row in SENTENCES[:, :-1].tolist()}
    seen = []
    trained(watch=lambda module, args: seen.extend(args[0].tolist()))
    assert len(seen) == 70 * 16
    assert {tuple(row) for row in seen} == known


def test_two_trainings_agree_bit_for_bit_and_seeds_differ(trained):
    few = BUDGET.model_copy(update={"steps": 10})
    (first, rows), (second, rows_again) = trained(few), trained(few)
    _, other = trained(few, seed=1)
    assert rows == rows_again
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)
    )
    assert rows != other


def test_the_loss_is_that_of_each_next_word(sentence_spec):
    model = build(sentence_spec, len(VOCABULARY))
    drawn = SENTENCES[torch.randint(len(SENTENCES), (16,), generator=generator(4, "data"))]
    with torch.no_grad():
        logits = model(drawn[:, :-1]).flatten(0, 1)
    expected = float(nn.functional.cross_entropy(logits, drawn[:, 1:].flatten()))
    one = BUDGET.model_copy(update={"steps": 1})
    rows = train_on_sentences(model, SENTENCES, one, 4, evaluate=dict, on_step=lambda: None)
    assert rows[1]["batch_loss"] == pytest.approx(expected, rel=1e-5)


def test_warmup_starts_slowly(trained):
    def moved(warmup_steps):
        changes = {"steps": 2, "warmup_steps": warmup_steps}
        model, _ = trained(BUDGET.model_copy(update=changes))
        start, _ = trained(BUDGET.model_copy(update={"steps": 0}))
        return (model.output.weight - start.output.weight).abs().max()

    assert 0 < moved(1000) < moved(0) / 100


def test_a_loss_that_is_not_finite_stops_the_training(trained):
    with pytest.raises(UserError, match="at step 2 with seed 0"):
        trained(BUDGET.model_copy(update={"learning_rate": 1e38}))
