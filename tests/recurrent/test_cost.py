import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remeasure.models.language_model import LanguageModel
from remeasure.models.parts import parameter_count
from remeasure.params.recurrent import recurrent_plan, sequence_cost_plan
from remeasure.recurrent import cost
from remeasure.recurrent.cost import exponent, measure
from remeasure.recurrent.models import build_model

LENGTHS = (32, 64, 128, 256, 512)


def test_every_run_is_timed_at_every_length(small_params):
    record = measure(sequence_cost_plan(small_params))
    assert [(row["length"], row["batch_size"]) for row in record["rows"]] == [
        (2, 8),
        (4, 4),
        (8, 2),
    ]
    for row in record["rows"]:
        steps = {name: found["sequential_steps"] for name, found in row["runs"].items()}
        assert steps == {"rnn": row["length"], "lstm": row["length"], "attention": 1}
        for found in row["runs"].values():
            assert 0 < found["ms"]["low"] <= found["ms"]["median"] <= found["ms"]["high"]
            assert found["ms"]["n"] == 3
    for name in ("rnn", "lstm", "attention"):
        times = [row["runs"][name]["ms"]["median"] for row in record["rows"]]
        assert record["longest_over_shortest"][name] == times[-1] / times[0]
        assert record["exponents"][name] == exponent((2, 4, 8), times)
    assert record["protocol"]["corpus"] is None
    json.dumps(record, allow_nan=False)


def test_what_is_timed_is_loss_and_gradient_of_as_many_tokens(small_params, monkeypatch):
    built, sizes = [], []
    build, loss = cost.build_model, LanguageModel.loss

    def kept(*arguments):
        built.append(build(*arguments))
        return built[-1]

    def watched(model, ids_BT, next_BT):
        sizes.append(ids_BT.numel())
        return loss(model, ids_BT, next_BT)

    def once(step, device, *, repeats, seconds):
        step()
        assert all(parameter.grad is not None for parameter in built[-1].parameters())
        return {"median": 1.0, "low": 1.0, "high": 1.0, "n": 1}

    monkeypatch.setattr(cost, "build_model", kept)
    monkeypatch.setattr(cost, "repeated", once)
    monkeypatch.setattr(LanguageModel, "loss", watched)
    record = measure(sequence_cost_plan(small_params))
    assert sizes == [16] * 9
    assert set(record["exponents"].values()) == {0.0}


def test_parameters_are_those_of_the_runs_but_for_rows_of_positions(small_params):
    record = measure(sequence_cost_plan(small_params))
    for name in ("rnn", "lstm", "attention"):
        spec = recurrent_plan(small_params, name).spec
        shortest = spec.model_copy(update={"context": 2})
        assert record["parameters"][name] == parameter_count(build_model(shortest, 17))


@given(st.floats(-2, 3), st.floats(0.01, 1e4))
def test_a_power_has_its_own_exponent(power, factor):
    times = [factor * length**power for length in LENGTHS]
    assert exponent(LENGTHS, times) == pytest.approx(power, abs=1e-9)


def test_only_the_last_four_lengths_count():
    times = [1e6, 64.0, 128.0, 256.0, 512.0]
    assert exponent(LENGTHS, times) == pytest.approx(1.0)
