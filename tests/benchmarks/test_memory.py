from pathlib import Path

import psutil
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from remeasure.benchmarks import memory
from remeasure.benchmarks.attention_cost import _explicit, _layer_and_input
from remeasure.benchmarks.child import in_child
from remeasure.benchmarks.memory import MEGABYTE, is_out_of_memory, limit_memory, peak_bytes
from remeasure.errors import UserError
from remeasure.params.benchmarks import AttentionCostSettings

CPU = torch.device("cpu")

# Allocate this many numbers of four bytes, or free the tensor at this place of those alive.
steps = st.lists(
    st.one_of(
        st.tuples(st.just("allocate"), st.integers(1, 5000)),
        st.tuples(st.just("free"), st.integers(0, 100)),
    ),
    max_size=20,
)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 5000), steps)
def test_the_peak_is_the_most_that_was_alive_at_once_to_the_byte(first, steps):
    expected = 0

    def work():
        nonlocal expected
        alive = []
        for what, amount in [("allocate", first), *steps]:
            if what == "allocate":
                alive.append(torch.empty(amount))
            elif alive:
                del alive[amount % len(alive)]
            expected = max(expected, sum(4 * len(tensor) for tensor in alive))

    assert peak_bytes(work, CPU) == expected


def test_what_was_there_before_does_not_count_even_if_it_was_counted_then():
    before = []
    assert peak_bytes(lambda: before.append(torch.empty(MEGABYTE)), CPU) == 4 * MEGABYTE
    assert peak_bytes(lambda: torch.empty(1000), CPU) == 4000
    assert peak_bytes(lambda: (before.clear(), torch.empty(2000)), CPU) <= 8000


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
def test_the_allocators_peak_is_what_the_kernel_sees():
    small = AttentionCostSettings(
        tokens=(1024, 2048),
        d_model=64,
        n_heads=4,
        repeats=3,
        seconds=0.0,
        memory_limit_gb=None,
        device="cpu",
        seed=0,
    )

    @torch.no_grad()
    def work():
        _explicit(*_layer_and_input(small, CPU, 2048))

    work()
    Path("/proc/self/clear_refs").write_text("5")
    before = psutil.Process().memory_info().rss
    work()
    status = Path("/proc/self/status").read_text()
    kernels = int(status.split("VmHWM:")[1].split()[0]) * 1024 - before
    assert peak_bytes(work, CPU) == pytest.approx(kernels, rel=0.05)


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux holds a process to the limit")
def test_the_limit_lets_less_through_and_stops_more():
    code = """
import torch
from remeasure.benchmarks.memory import limit_memory
limit_memory(0.25, torch.device("cpu"))
torch.ones(int(0.2 * 2**30), dtype=torch.uint8)
try:
    torch.empty(int(0.3 * 2**30), dtype=torch.uint8)
except RuntimeError as error:
    raise MemoryError from error
raise ValueError("more than the limit was allocated")
"""
    with pytest.raises(memory.OutOfMemory):
        in_child(exec, code, {})


def test_no_limit_where_none_is_wanted(monkeypatch):
    monkeypatch.setattr(memory, "_limit_private_memory", pytest.fail)
    limit_memory(None, CPU)


def test_a_system_that_does_not_hold_the_limit_is_found_out(monkeypatch):
    monkeypatch.setattr(memory, "_limit_private_memory", lambda allowed: None)
    with pytest.raises(UserError, match="memory_limit_gb: this system does not hold"):
        limit_memory(0.001, CPU)


def test_torchs_failed_allocation_is_out_of_memory():
    with pytest.raises(RuntimeError) as raised:
        torch.empty(2**47, dtype=torch.uint8)
    assert is_out_of_memory(raised.value)


def test_cudas_failed_allocation_is_out_of_memory():
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))


@pytest.mark.parametrize("error", [RuntimeError("shapes do not fit"), ValueError("bad_alloc")])
def test_another_failure_is_not_out_of_memory(error):
    assert not is_out_of_memory(error)
