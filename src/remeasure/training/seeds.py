"""Independent random streams from one seed: initialisation, order of data, dropout."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def derived(seed: int, purpose: str) -> int:
    """A seed of 63 bits for one purpose; other purposes and other seeds give unrelated ones."""
    digest = hashlib.sha256(f"{purpose}:{seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator(seed: int, purpose: str) -> torch.Generator:
    """A CPU generator for one purpose."""
    return torch.Generator().manual_seed(derived(seed, purpose))


@contextmanager
def global_seed(seed: int, purpose: str) -> Iterator[None]:
    """Torch's global generators seeded for one purpose; their state before is restored after."""
    with torch.random.fork_rng():
        torch.manual_seed(derived(seed, purpose))
        yield
