import json

import pytest

from remeasure.errors import ParameterError
from remeasure.params.referent import referent_plan
from remeasure.referent import experiment
from remeasure.referent.experiment import CURVE_COLUMNS, settled_at, train_and_ask
from remeasure.referent.language import LANGUAGES, VOCABULARY, Sentence
from remeasure.referent.split import Split


def test_a_record_has_every_number_over_the_seeds(small_params):
    record = train_and_ask(referent_plan(small_params, "attention"), "test").record
    assert record["sentences"] == {"training": 192 * 8, "held_out": 384}
    assert record["protocol"]["fraction"] == 1.0
    attention = record["attention"]
    for value in (
        record["accuracy"],
        record["accuracy_among_present"],
        record["wrong_noun_share"],
        attention["block1_weight_on_first_noun"],
        attention["block1_same"]["max_score_diff"],
        attention["block2_crosser_weight_on_adjective"],
        attention["block2_crossed_weight_on_second_noun"],
    ):
        assert set(value["per_seed"]) == {"3", "5"}
    assert attention["uniform_weight"] == 1 / 15
    assert attention["map"]["seed"] == 3
    assert len(attention["map"]["sentences"]) == 8
    # Four steps teach nothing: no seed has settled.
    assert record["settled_seeds"] == 0
    assert record["settled_at"] is None


def test_the_curve_has_one_row_a_seed_and_step(small_params):
    curve = train_and_ask(referent_plan(small_params, "attention"), "test").curve
    assert all(len(row) == len(CURVE_COLUMNS) for row in curve)
    assert [row[:2] for row in curve] == [[seed, step] for seed in (3, 5) for step in range(5)]


def test_two_runs_give_the_same_bytes(small_params):
    first, second = (
        train_and_ask(referent_plan(small_params, "attention"), "test") for _ in range(2)
    )
    assert json.dumps(first.record) == json.dumps(second.record)
    assert json.dumps(first.curve) == json.dumps(second.curve)


def test_each_seed_starts_from_weights_of_its_own(small_params):
    small_params["referent"]["runs"]["attention"]["learning_rate"] = 1e-30
    record = train_and_ask(referent_plan(small_params, "attention"), "test").record
    weights = record["attention"]["block1_weight_on_first_noun"]["per_seed"]
    assert weights["3"] != weights["5"]


def test_a_uniform_average_has_answers_and_no_attention_rows(small_params):
    record = train_and_ask(referent_plan(small_params, "uniform"), "test").record
    assert record["sentences"] == {"training": 52 * 8, "held_out": 96}
    shown = record["attention"]["map"]["sentences"]
    assert all(sentence["blocks"] == [] for sentence in shown)
    assert all(sentence["answer"] in VOCABULARY for sentence in shown)


def test_no_held_out_pair_reaches_the_training(monkeypatch, small_params):
    given = {}

    def watched_rows(sentences_NL, batch_size):
        given["training"] = {tuple(row[:15]) for row in sentences_NL.tolist()}

    def no_training(*args, evaluate, **options):
        return [{"step": 0, "batch_loss": None, **evaluate()}]

    def watched_score(model, asked):
        given["held_out"] = {tuple(row) for row in asked.visible_NT.tolist()}
        return {"accuracy": 0.0, "accuracy_among_present": 0.0, "wrong_noun": 0.0}

    monkeypatch.setattr(experiment, "random_rows", watched_rows)
    monkeypatch.setattr(experiment, "train", no_training)
    monkeypatch.setattr(experiment, "score", watched_score)
    train_and_ask(referent_plan(small_params, "attention"), "test")
    assert len(given["training"]) == 192 * 8
    assert len(given["held_out"]) == 384
    assert not given["training"] & given["held_out"]
    swapped = {_with_nouns_swapped(row) for row in given["held_out"]}
    assert swapped <= given["training"]


def test_a_split_that_leaks_is_refused(monkeypatch, small_params):
    pairs = tuple(LANGUAGES["pool"].pairs())
    monkeypatch.setattr(experiment, "split_pairs", lambda *_: Split(pairs, pairs[:48]))
    with pytest.raises(ValueError, match="held-out pairs among those of training"):
        train_and_ask(referent_plan(small_params, "attention"), "test")


def test_a_context_shorter_than_a_sentence_is_refused(small_params):
    with pytest.raises(ParameterError, match="context: 16 is too short"):
        train_and_ask(referent_plan(small_params, "short"), "test")


@pytest.mark.parametrize(
    ("accuracies", "step"),
    [
        ([0.5, 0.995, 1.0], 20),
        ([0.5, 1.0, 0.99, 1.0], 40),
        ([1.0, 1.0, 0.98], None),
        ([0.1, 0.2], None),
        ([1.0, 1.0], 10),
    ],
)
def test_settled_is_for_good(accuracies, step):
    curve = [{"step": 5, "batch_loss": 1.0}]
    curve += [{"step": 10 * n, "accuracy": value} for n, value in enumerate(accuracies, 1)]
    assert settled_at(curve) == step


def _with_nouns_swapped(row):
    words = [VOCABULARY[token] for token in row]
    swapped = Sentence((words[6], words[1]), words[11]).words[:15]
    return tuple(VOCABULARY.index(word) for word in swapped)
