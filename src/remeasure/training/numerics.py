"""How this process computes: device, precision, denormal numbers, memory of the C library."""

import ctypes
import platform

import torch

from remeasure.errors import UserError

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
"""Names of glibc's malloc.h."""


def set_up(device: str, precision: str) -> torch.device:
    """Prepare this process for training; returns the device that `auto`, `cpu` or `cuda` means.

    Denormal numbers count as zero: undivided scores make softmax weights that small, and arithmetic
    with them is several times slower. Raises UserError if CUDA is asked for and not there.
    """
    torch.set_flush_denormal(True)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    _keep_freed_memory()
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError(
            "training.device: cuda is asked for, but no CUDA device was found; use auto"
        )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(device)


def _keep_freed_memory() -> None:
    """Let glibc keep freed memory, instead of handing large tensors back at every step.

    Mapping and zeroing the same pages again at each step took a sixth of its time when measured.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, 2**30)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
