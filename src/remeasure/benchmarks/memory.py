"""Peak memory as it was really allocated, and a limit at which allocation really fails."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
import torch
from torch.autograd.profiler import profile

from remeasure.errors import UserError

GIGABYTE = 2**30
MEGABYTE = 2**20
"""Units of the chapter, whose 8 x 4096^2 x 4 bytes are 512.0 MB."""

ABOVE_EVERY_LOG_LEVEL = "6"


class OutOfMemory(UserError):
    """A measurement wanted more memory than its limit, or than the machine has."""


def peak_bytes(work: Callable[[], object], device: torch.device) -> int:
    """The most bytes that tensors made by `work` held at any one time.

    Counted by PyTorch's allocator, to the byte: on CUDA by its own statistics, on the CPU from the
    profiler's record of every allocation. Buffers that libraries keep for themselves (about 1 MB in
    matrix products on the CPU) are not seen.
    """
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        work()
        return torch.cuda.max_memory_allocated(device) - before
    # Without this the profiler prints a line at its start and at its end.
    os.environ["KINETO_LOG_LEVEL"] = ABOVE_EVERY_LOG_LEVEL
    # torch.profiler would import for seconds; this one records the same.
    with profile(profile_memory=True) as profiler:
        work()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    notes = sorted(
        (event for event in events if event["name"] == "[memory]"), key=lambda event: event["ts"]
    )
    allocated = [note["args"]["Total Allocated"] for note in notes]
    return max(allocated) - (allocated[0] - notes[0]["args"]["Bytes"])


def limit_memory(gigabytes: float | None, device: torch.device) -> None:
    """From here on this process may allocate this much more, in units of 2^30 bytes.

    None sets no limit. As on a GPU, it also counts what was freed but is kept for later: on the CPU
    tens of megabytes in the C library. Raises UserError where the system lets more through, as all
    but Linux do.
    """
    if gigabytes is None:
        return
    allowed = int(gigabytes * GIGABYTE)
    if device.type == "cuda":
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, allowed / total), device)
        return
    _limit_private_memory(allowed)
    try:
        torch.empty(2 * allowed, dtype=torch.uint8)
    except RuntimeError:
        return
    raise UserError(
        "memory_limit_gb: this system does not hold a process to a memory limit (Linux does);"
        " set it to null in params.yaml, and leave out sizes that do not fit"
    )


def is_out_of_memory(error: Exception) -> bool:
    """Whether this is a failed allocation: of CUDA, of Python, or of PyTorch on the CPU."""
    # On the CPU, PyTorch raises a plain RuntimeError that only its words tell apart.
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError)
        and any(words in str(error) for words in ("can't allocate memory", "bad_alloc"))
    )


def _limit_private_memory(allowed: int) -> None:
    """Limit private writable memory, touched or not, to what there is now and `allowed` more."""
    process = psutil.Process()
    if psutil.LINUX:
        _, hard = process.rlimit(psutil.RLIMIT_DATA)
        process.rlimit(psutil.RLIMIT_DATA, (process.memory_info().data + allowed, hard))
