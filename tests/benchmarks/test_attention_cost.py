import json

import psutil
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from remeasure.benchmarks.attention_cost import (
    _explicit,
    _fused,
    _layer_and_input,
    growth,
    measure,
)
from remeasure.benchmarks.memory import MEGABYTE, OutOfMemory, peak_bytes
from remeasure.errors import ParameterError
from remeasure.params.benchmarks import AttentionCostSettings

CPU = torch.device("cpu")
SMALL = {
    "tokens": [64, 128],
    "d_model": 32,
    "n_heads": 4,
    "repeats": 3,
    "seconds": 0.0,
    "memory_limit_gb": None,
    "device": "cpu",
    "seed": 0,
}
# One head: the scores take 16 MB at 2048 tokens and 64 MB at 4096, and there are two such tensors.
LIMITED = SMALL | {"tokens": [2048, 4096], "n_heads": 1, "memory_limit_gb": 0.1}


def row(tokens, time=None, memory=None, projections=1.0, fused_time=1.0, fused_memory=1.0):
    return {
        "tokens": tokens,
        "ms_total": None if time is None else {"median": time},
        "ms_projections": {"median": projections},
        "peak_mb": memory,
        "out_of_memory": time is None,
        "fused": {"ms": {"median": fused_time}, "peak_mb": fused_memory},
    }


def test_a_record_with_every_number_of_every_size():
    record = measure(SMALL)
    json.dumps(record, allow_nan=False)
    assert [row["tokens"] for row in record["rows"]] == [64, 128]
    assert record["out_of_memory_at"] is None
    for row, scores in zip(record["rows"], (4 * 64**2 * 4, 4 * 128**2 * 4), strict=True):
        assert row["score_matrix_mb"] * MEGABYTE == scores
        # The scores and the weights are alive together; the fused form has neither.
        assert row["peak_mb"] * MEGABYTE > 2 * scores
        assert row["fused"]["peak_mb"] < row["peak_mb"]
        assert 0 <= row["fused"]["max_diff"] < 1e-6
        for spread in (row["ms_total"], row["ms_projections"], row["fused"]["ms"]):
            assert spread["n"] == 3
            assert 0 < spread["low"] <= spread["median"] <= spread["high"]
    first, second = record["rows"]
    assert first["ratio"] == {"time": None, "memory": None}
    assert second["ratio"] == record["last_doubling"]
    assert second["ratio"]["memory"] == second["peak_mb"] / first["peak_mb"]
    assert record["projections"]["tokens_ratio"] == 2


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux holds a process to the limit")
def test_out_of_memory_happens_and_the_rest_is_still_measured():
    record = measure(LIMITED)
    small, large = record["rows"]
    assert record["out_of_memory_at"] == 4096
    assert not small["out_of_memory"]
    assert large["out_of_memory"]
    assert large["ms_total"] is large["peak_mb"] is large["fused"]["max_diff"] is None
    assert large["ms_projections"]["median"] > 0
    assert large["fused"]["peak_mb"] < large["score_matrix_mb"] == 64
    assert record["exponents"]["time"] is None
    assert 0 < record["exponents"]["fused_memory"] < 1.1


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux holds a process to the limit")
def test_a_limit_too_small_for_the_fused_form_is_an_error_for_the_user():
    with pytest.raises(OutOfMemory, match=r"raise memory_limit_gb in params\.yaml"):
        measure(LIMITED | {"tokens": [2**17, 2**18], "memory_limit_gb": 0.02})


def test_settings_are_checked():
    with pytest.raises(ParameterError, match=r"^benchmarks\.attention_cost\.repeats: 1 "):
        measure(SMALL | {"repeats": 1})


@torch.no_grad()
def test_scores_grow_with_the_square_and_the_fused_form_in_a_line():
    checked = AttentionCostSettings.model_validate(SMALL)

    def peak(form, tokens):
        return peak_bytes(lambda: form(*_layer_and_input(checked, CPU, tokens)), CPU)

    scores = 4 * 1024**2 * 4
    assert 2 * scores < peak(_explicit, 1024) < 3 * scores
    assert peak(_explicit, 2048) / peak(_explicit, 1024) == pytest.approx(4, abs=0.3)
    # What the kernel holds besides is the same at every size, so differences are in a line.
    small, middle, large = (peak(_fused, tokens) for tokens in (1024, 2048, 4096))
    assert small < scores / 2
    assert (large - middle) / (middle - small) == pytest.approx(2, abs=0.1)


@torch.no_grad()
def test_both_forms_are_causal_and_equal():
    checked = AttentionCostSettings.model_validate(SMALL)
    layer, x_BTD = _layer_and_input(checked, CPU, 64)
    changed_BTD = x_BTD.clone()
    changed_BTD[:, -1] += 1
    for form in (_explicit, _fused):
        output_BTD, after_BTD = form(layer, x_BTD), form(layer, changed_BTD)
        assert torch.equal(output_BTD[:, :-1], after_BTD[:, :-1])
        assert not torch.equal(output_BTD[:, -1], after_BTD[:, -1])
        assert torch.allclose(output_BTD, _explicit(layer, x_BTD), atol=1e-6)


def test_every_process_has_the_same_layer_and_input():
    checked = AttentionCostSettings.model_validate(SMALL)
    layer, x_BTD = _layer_and_input(checked, CPU, 64)
    again, again_BTD = _layer_and_input(checked, CPU, 64)
    assert torch.equal(x_BTD, again_BTD)
    assert torch.equal(layer.query_key_value.weight, again.query_key_value.weight)


@given(st.floats(0.1, 3), st.floats(0.1, 3), st.floats(0.01, 100))
def test_exponents_are_the_powers_that_the_numbers_grow_with(time, memory, factor):
    grown = growth(
        [
            row(
                n,
                time=factor * n**time,
                memory=factor * n**memory,
                projections=n**0.5,
                fused_time=n**memory,
                fused_memory=n**time,
            )
            for n in (128, 256, 512, 1024)
        ]
    )
    assert grown["exponents"] == pytest.approx(
        {"time": time, "memory": memory, "fused_time": memory, "fused_memory": time}
    )
    assert grown["last_doubling"] == pytest.approx({"time": 2**time, "memory": 2**memory})
    assert grown["projections"] == pytest.approx({"tokens_ratio": 8, "time_ratio": 8**0.5})


def test_only_the_last_four_measured_rows_count():
    counting = [row(n, time=n**2, memory=n**2, fused_memory=n) for n in (256, 512, 1024, 2048)]
    grown = growth([row(128, time=1e6, memory=1e6), *counting, row(4096, fused_memory=4096)])
    assert grown["exponents"]["time"] == pytest.approx(2)
    assert grown["exponents"]["memory"] == pytest.approx(2)
    assert grown["exponents"]["fused_memory"] == pytest.approx(1)
    assert grown["last_doubling"] == {"time": 4, "memory": 4}
    assert grown["projections"]["tokens_ratio"] == 8


def test_one_measured_row_has_no_growth():
    grown = growth([row(128, time=1.0, memory=1.0), row(256)])
    assert grown["exponents"]["time"] is grown["exponents"]["memory"] is None
    assert grown["last_doubling"] == {"time": None, "memory": None}
    assert grown["projections"] == {"tokens_ratio": None, "time_ratio": None}
