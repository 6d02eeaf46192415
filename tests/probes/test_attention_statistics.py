"""Statistics of attention against plain loops over the model's own weights."""

import math
import statistics
from typing import Any

import pytest
import torch
from torch import Tensor

from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import attention_layers
from remeasure.params.model import ModelSpec
from remeasure.probes.attention_statistics import attention_statistics

Rows = list[list[float]]


def _built(small_spec: ModelSpec, **changes: Any) -> LanguageModel:
    torch.manual_seed(7)
    return build(small_spec.model_copy(update=changes), 17)


@pytest.fixture
def ids_BT() -> Tensor:
    return torch.randint(0, 17, (3, 12), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def _allowed_rows(model: LanguageModel, ids_BT: Tensor) -> list[Rows]:
    """Allowed scores of every row, layer by layer, from the weight matrices of a pre-norm model."""
    x_BTD, layers = model.embed(ids_BT), []
    for block, layer in zip(model.blocks, attention_layers(model), strict=True):
        normed_BTD = block.sublayers[0].norm_before(x_BTD)
        query, key, _ = (normed_BTD @ layer.query_key_value.weight.T).chunk(3, dim=-1)
        width = layer.head_width
        rows = []
        for window in range(len(ids_BT)):
            for head in range(layer.n_heads):
                part = slice(head * width, (head + 1) * width)
                for t in range(ids_BT.shape[1]):
                    dots = [query[window, t, part] @ key[window, i, part] for i in range(t + 1)]
                    divisor = math.sqrt(width) if layer.scale else 1
                    rows.append([dot.item() / divisor for dot in dots])
        layers.append(rows)
        x_BTD = block(x_BTD)
    return layers


def _by_hand(rows: Rows) -> dict[str, float]:
    entropies, frozen = [], 0
    for row in rows:
        exponentials = [math.exp(score - max(row)) for score in row]
        weights = [value / math.fsum(exponentials) for value in exponentials]
        entropies.append(-math.fsum(w * math.log(w) for w in weights if w))
        frozen += max(weights) > 0.99
    return {
        "score_std": statistics.stdev([score for row in rows for score in row]),
        "entropy": statistics.fmean(entropies),
        "effective_tokens": statistics.fmean(math.exp(entropy) for entropy in entropies),
        "frozen_rows": frozen / len(rows),
    }


@pytest.mark.parametrize("changes", [{}, {"n_blocks": 2}, {"n_heads": 2, "scale": False}])
def test_means_over_the_layers_by_hand(
    small_spec: ModelSpec, ids_BT: Tensor, changes: dict[str, Any]
) -> None:
    model = _built(small_spec, **changes)
    with torch.no_grad():
        for layer in attention_layers(model):
            layer.query_key_value.weight *= 3
    layers = [_by_hand(rows) for rows in _allowed_rows(model, ids_BT)]
    expected = {name: statistics.fmean(layer[name] for layer in layers) for name in layers[0]}
    assert attention_statistics(model, ids_BT) == pytest.approx(expected, rel=1e-4)


def test_even_and_hard_rows(small_spec: ModelSpec, ids_BT: Tensor) -> None:
    model = _built(small_spec)
    weight = attention_layers(model)[0].query_key_value.weight
    lengths = range(1, 13)
    with torch.no_grad():
        weight[:32] = 0
    even = attention_statistics(model, ids_BT)
    assert even["score_std"] == 0
    assert even["effective_tokens"] == pytest.approx(statistics.fmean(lengths), rel=1e-5)
    assert even["entropy"] == pytest.approx(statistics.fmean(map(math.log, lengths)), rel=1e-5)
    assert even["frozen_rows"] == pytest.approx(1 / 12)  # a window's first row has one choice
    with torch.no_grad():
        weight[:32] = 1000 * torch.randn(32, 16)
    hard = attention_statistics(model, ids_BT)
    assert hard["frozen_rows"] > 0.9 > 0.3 > hard["entropy"]


def test_alibi_and_a_missing_mask_are_seen(small_spec: ModelSpec, ids_BT: Tensor) -> None:
    plain = attention_statistics(_built(small_spec, pos="none"), ids_BT)
    alibi = attention_statistics(_built(small_spec, pos="alibi"), ids_BT)
    unmasked = attention_statistics(_built(small_spec, pos="none", causal=False), ids_BT)
    assert alibi["score_std"] != plain["score_std"]
    assert unmasked["effective_tokens"] > plain["effective_tokens"] + 1
    assert unmasked["frozen_rows"] == 0


def test_nothing_for_a_model_without_attention(small_spec: ModelSpec, ids_BT: Tensor) -> None:
    model = _built(small_spec, mixer="uniform")
    found = attention_statistics(model, ids_BT)
    assert found == dict.fromkeys(("score_std", "entropy", "effective_tokens", "frozen_rows"))


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_left_as_it_was_and_dropout_plays_no_part(
    small_spec: ModelSpec, ids_BT: Tensor, training: bool
) -> None:
    model = _built(small_spec, n_blocks=2, dropout=0.5).train(training)
    first, second = attention_statistics(model, ids_BT), attention_statistics(model, ids_BT)
    assert first == second
    assert {module.training for module in model.modules()} == {training}
    assert not any(layer._forward_pre_hooks for layer in attention_layers(model))
    assert all(parameter.grad is None for parameter in model.parameters())


def test_hooks_go_even_if_the_model_cannot_read_the_windows(small_spec: ModelSpec) -> None:
    model = _built(small_spec).train()
    with pytest.raises(ValueError, match="no row in a table"):
        attention_statistics(model, torch.zeros(1, 13, dtype=torch.long))
    assert not any(layer._forward_pre_hooks for layer in attention_layers(model))
    assert model.training
