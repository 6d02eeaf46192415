"""The pieces add up, exactly in float64, and each is what it says."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from remeasure.data.tokens import Tokens
from remeasure.errors import ParameterError
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.models.mixers import SelfAttention
from remeasure.params.model import ModelSpec
from remeasure.probes import residual_stream
from remeasure.probes.residual_stream import take_apart

PIECES = [
    "embedding",
    "block_1.attention",
    "block_1.feed_forward",
    "block_2.attention",
    "block_2.feed_forward",
]


@pytest.fixture
def model(small_spec: ModelSpec) -> LanguageModel:
    """In float64, with LayerNorms that have learnt something, and with dropout."""
    torch.manual_seed(3)
    built = build(small_spec.model_copy(update={"n_blocks": 2, "dropout": 0.3}), 17).double()
    with torch.no_grad():
        for module in built.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight.normal_()
                module.bias.normal_()
    return built


@pytest.fixture
def ids_BT() -> Tensor:
    return torch.randint(0, 17, (3, 12), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def test_pieces_add_up_in_float64(model: LanguageModel, ids_BT: Tensor) -> None:
    apart = take_apart(model, ids_BT)
    assert list(apart.pieces) == list(apart.logit_pieces) == PIECES
    stream_BTD = torch.zeros_like(apart.final_BTD)
    logits_BTV = apart.constant_V.expand_as(apart.logits_BTV)
    for name in PIECES:
        stream_BTD = stream_BTD + apart.pieces[name]
        logits_BTV = logits_BTV + apart.logit_pieces[name]
    torch.testing.assert_close(stream_BTD, apart.final_BTD, rtol=0, atol=1e-12)
    torch.testing.assert_close(logits_BTV, model(ids_BT), rtol=0, atol=1e-12)
    torch.testing.assert_close(
        model.output(model.final_norm(stream_BTD)), apart.logits_BTV, rtol=0, atol=1e-12
    )


@torch.no_grad()
def test_a_sub_layer_that_writes_nothing_has_an_empty_piece(
    model: LanguageModel, ids_BT: Tensor
) -> None:
    second = [module for module in model.modules() if isinstance(module, SelfAttention)][1]
    for parameter in second.output.parameters():
        parameter.zero_()
    lengths = {name: piece.norm() for name, piece in take_apart(model, ids_BT).pieces.items()}
    assert [name for name, length in lengths.items() if length == 0] == ["block_2.attention"]


@pytest.mark.usefixtures("tokens_file")
def test_record(small_settings: Callable[..., Any], small_tokens: Tokens) -> None:
    record = residual_stream.measure(small_settings("residual_stream"))
    assert 0 < record["max_diff"] <= 1e-5
    assert 0 < record["logits"]["max_diff"] <= 1e-5
    assert [piece["name"] for piece in record["pieces"]] == PIECES
    assert all(piece["norm"] > 0 and piece["logit_norm"] > 0 for piece in record["pieces"])
    assert record["protocol"]["corpus"] == small_tokens.corpus_sha256


@pytest.mark.usefixtures("tokens_file")
def test_a_missing_piece_shows(
    small_settings: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = residual_stream._sublayers

    def without_the_first(model: LanguageModel) -> dict[str, Any]:
        return dict(list(whole(model).items())[1:])

    monkeypatch.setattr(residual_stream, "_sublayers", without_the_first)
    record = residual_stream.measure(small_settings("residual_stream"))
    assert record["max_diff"] > 0.01
    assert record["logits"]["max_diff"] > 0.01


@pytest.mark.parametrize("change", [{"norm": "post"}, {"norm": "none"}, {"residual": False}])
def test_a_model_without_a_clean_stream_is_refused(
    small_settings: Callable[..., Any], change: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError, match="model needs norm pre and residual true"):
        small_settings("residual_stream", model=change)
