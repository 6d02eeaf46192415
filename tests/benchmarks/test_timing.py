import time

import pytest
import torch

from remeasure.benchmarks.timing import choose_device, repeated, summary, timed
from remeasure.errors import ParameterError

CPU = torch.device("cpu")


def test_timed_gives_the_result_and_the_milliseconds_it_took():
    result, ms = timed(lambda: time.sleep(0.03) or "done", CPU)
    assert result == "done"
    assert 30 <= ms < 1000


@pytest.mark.parametrize(("seconds", "runs"), [(100.0, 7), (0.0, 3)])
def test_repeated_stops_after_the_repeats_or_the_seconds_but_not_before_three(seconds, runs):
    calls = []
    result = repeated(lambda: calls.append(1), CPU, repeats=7, seconds=seconds)
    assert result["n"] == runs
    assert len(calls) == runs + 1


def test_the_first_run_is_not_counted():
    delays = iter([0.3, 0.0, 0.0, 0.0])
    result = repeated(lambda: time.sleep(next(delays)), CPU, repeats=3, seconds=1.0)
    assert result["high"] < 300


def test_summary_is_the_median_and_the_quartiles():
    assert summary([5.0, 1.0, 2.0, 4.0, 3.0]) == {"median": 3.0, "low": 2.0, "high": 4.0, "n": 5}


def test_without_cuda_auto_is_the_cpu_and_cuda_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto", "here") == CPU
    with pytest.raises(ParameterError, match=r"here\.device: cuda is asked for"):
        choose_device("cuda", "here.device")


def test_with_cuda_auto_is_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto", "here") == torch.device("cuda")
    assert choose_device("cpu", "here") == CPU
