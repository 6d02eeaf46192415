import json

import pytest

from remeasure.induction import experiment
from remeasure.induction.experiment import learned_at, train_and_watch
from remeasure.params.induction import induction_plan


@pytest.mark.parametrize(("name", "layers", "heads"), [("one", 1, 4), ("two", 2, 2)])
def test_a_record_has_every_number_over_the_seeds(small_params, name, layers, heads):
    trained = train_and_watch(induction_plan(small_params, name), "test")
    record = trained.record
    assert set(record["heads"]) == {f"layer{layer}" for layer in range(1, layers + 1)}
    for value in (
        record["new_loss"],
        record["repeat_loss"],
        record["repeat_accuracy"],
        *(score for layer in record["heads"].values() for score in layer.values()),
    ):
        assert set(value["per_seed"]) == {"3", "5"}
    columns = [column for column in trained.columns if "_head" in column]
    assert len(columns) == 2 * layers * heads
    # Four steps teach nothing.
    assert record["learned_seeds"] == 0
    assert record["learned_at"] is None
    assert record["learned_below"] == record["baselines"]["tokens_seen_loss"] / 2


def test_the_best_head_is_the_best_of_the_last_row(small_params):
    trained = train_and_watch(induction_plan(small_params, "two"), "test")
    last = dict(zip(trained.columns, trained.curve[-1], strict=True))
    best = trained.record["heads"]["layer2"]["prefix_matching"]["per_seed"]["5"]
    assert best == max(last[f"prefix_matching_layer2_head{head}"] for head in (1, 2))
    assert last["seed"] == 5
    assert trained.record["repeat_loss"]["per_seed"]["5"] == last["repeat_loss"]


def test_the_curve_has_one_row_a_seed_and_step(small_params):
    trained = train_and_watch(induction_plan(small_params, "one"), "test")
    assert trained.columns[:3] == ("seed", "step", "batch_loss")
    assert all(len(row) == len(trained.columns) for row in trained.curve)
    assert [row[:2] for row in trained.curve] == [[s, step] for s in (3, 5) for step in range(5)]


def test_two_runs_give_the_same_bytes_and_seeds_differ(small_params):
    first, second = (train_and_watch(induction_plan(small_params, "two"), "test") for _ in "ab")
    assert json.dumps(first.record) == json.dumps(second.record)
    assert json.dumps(first.curve) == json.dumps(second.curve)
    losses = first.record["repeat_loss"]["per_seed"]
    assert losses["3"] != losses["5"]


def test_all_seeds_are_evaluated_on_the_same_sequences_and_never_train_on_them(
    monkeypatch, small_params
):
    held_out, trained_on = [], []

    def watched(model, sequences):
        held_out.append(sequences.ids_BN.tolist())
        return {"new_loss": 1.0, "repeat_loss": 1.0, "repeat_accuracy": 0.0}

    small_params["induction"]["sequences"]["vocab_size"] = 1000
    monkeypatch.setattr(experiment, "losses", watched)
    draw = experiment.random_sequences

    def watched_draw(*args):
        inner = draw(*args)

        def drawn(generator):
            batch = inner(generator)
            trained_on.extend(batch[0].tolist())
            return batch

        return drawn

    monkeypatch.setattr(experiment, "random_sequences", watched_draw)
    train_and_watch(induction_plan(small_params, "one"), "test")
    assert all(ids == held_out[0] for ids in held_out)
    assert len(trained_on) == 2 * 4 * 8
    assert not {tuple(ids[:-1]) for ids in held_out[0]} & set(map(tuple, trained_on))


@pytest.mark.parametrize(
    ("losses", "step"),
    [([3.0, 1.2, 1.0], 20), ([3.0, 1.3], None), ([1.0, 2.0, 1.0], 10), ([], None)],
)
def test_learning_is_the_first_evaluation_below_the_mark(losses, step):
    curve = [{"step": 5, "batch_loss": 0.1}]
    curve += [{"step": 10 * n, "repeat_loss": value} for n, value in enumerate(losses, 1)]
    assert learned_at(curve, 1.25) == step
