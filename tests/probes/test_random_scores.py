"""Scores of random vectors: the ordinary dot product of the draws, however many fit at a time."""

import math

import pytest
import torch

from remeasure.probes import random_scores as module
from remeasure.probes.random_scores import random_scores
from remeasure.training.seeds import generator


def test_scores_are_the_dot_products_of_the_draws() -> None:
    found = random_scores(width=6, n_rows=3, n_keys=4, seed=2)
    random = generator(2, "scores of width 6")
    query = torch.randn(3, 6, generator=random).tolist()
    key = torch.randn(3, 4, 6, generator=random).tolist()
    for row in range(3):
        for k in range(4):
            dot = math.fsum(a * b for a, b in zip(query[row], key[row][k], strict=True))
            assert found["undivided"][row, k].item() == pytest.approx(dot, abs=1e-5)
            assert found["divided"][row, k].item() == pytest.approx(dot / math.sqrt(6), abs=1e-5)


def test_rows_that_do_not_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ELEMENTS_AT_ONCE", 2 * 5 * 3)
    found = random_scores(width=5, n_rows=7, n_keys=3, seed=0)
    assert found["divided"].shape == found["undivided"].shape == (7, 3)
    assert len(found["undivided"].unique()) == 7 * 3
