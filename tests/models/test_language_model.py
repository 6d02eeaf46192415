"""The model as a whole: against torch's own layers, causal, cached, and made of the right parts."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from remeasure.models.build import build
from remeasure.models.cache import ModelCache
from remeasure.models.parts import parameter_count
from remeasure.params.ablations import ablation_plan, resolve
from remeasure.params.model import ModelSpec

VOCAB = 29


def model_of(spec: ModelSpec, **changes: Any) -> nn.Module:
    """A float64 model in evaluation mode."""
    torch.manual_seed(3)
    return build(resolve(spec.model_dump(), changes, "test"), VOCAB).double().eval()


def ids(n_windows: int = 2, length: int = 12) -> torch.Tensor:
    """Random token ids, [B, T]."""
    return torch.randint(VOCAB, (n_windows, length), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_block_equals_torchs_encoder_layer(small_spec: ModelSpec, norm: str) -> None:
    ours = model_of(small_spec, norm=norm, qkv_bias=True)
    theirs = nn.TransformerEncoderLayer(
        16, 4, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm == "pre"
    ).double()
    attention, feed_forward = ours.blocks[0].sublayers
    norms = ["norm_before" if norm == "pre" else "norm_after"] * 2
    weights = {
        "self_attn.in_proj_weight": attention.inner.query_key_value.weight,
        "self_attn.in_proj_bias": attention.inner.query_key_value.bias,
        "self_attn.out_proj.weight": attention.inner.output.weight,
        "self_attn.out_proj.bias": attention.inner.output.bias,
        "linear1.weight": feed_forward.inner.expand.weight,
        "linear1.bias": feed_forward.inner.expand.bias,
        "linear2.weight": feed_forward.inner.contract.weight,
        "linear2.bias": feed_forward.inner.contract.bias,
    }
    for number, (sublayer, name) in enumerate(zip((attention, feed_forward), norms, strict=True)):
        with torch.no_grad():
            getattr(sublayer, name).weight.copy_(torch.rand(16) + 0.5)
        weights[f"norm{number + 1}.weight"] = getattr(sublayer, name).weight
        weights[f"norm{number + 1}.bias"] = getattr(sublayer, name).bias
    theirs.load_state_dict(weights)
    x_BTD = torch.randn(2, 12, 16, dtype=torch.float64)
    mask_TT = nn.Transformer.generate_square_subsequent_mask(12, dtype=torch.float64)
    torch.testing.assert_close(ours.blocks[0](x_BTD), theirs(x_BTD, mask_TT))


def test_logits_are_the_final_norm_and_the_output_layer(small_spec: ModelSpec) -> None:
    model = model_of(small_spec)
    x_BTD = model.embedding(ids()) + model.positions.table.weight[:12]
    x_BTD = F.layer_norm(model.blocks[0](x_BTD), (16,))
    torch.testing.assert_close(model(ids()), model.output(x_BTD))


def test_loss_is_torchs_cross_entropy_of_the_logits(small_spec: ModelSpec) -> None:
    model, window = model_of(small_spec), ids(length=13)
    theirs = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
    torch.testing.assert_close(model.loss(window[:, :-1], window[:, 1:]), theirs)
    summed = model.summed_loss(window[:, :-1], window[:, 1:])
    torch.testing.assert_close(summed, theirs.double() * 24)


@pytest.mark.parametrize("mixer", ["uniform", "attention"])
def test_causal_models_do_not_see_the_future(small_spec: ModelSpec, mixer: str) -> None:
    """Through the gradient: position 5 depends on all inputs up to 5 and on none after."""
    model = model_of(small_spec, mixer=mixer, n_blocks=2)
    embedded: list[torch.Tensor] = []
    model.dropout.register_forward_hook(
        lambda module, args, output: embedded.append(output) or output.retain_grad()
    )
    model(ids())[:, 5].sum().backward()
    gradient_BT = embedded[0].grad.abs().sum(-1)
    assert (gradient_BT[:, 6:] == 0).all()
    assert (gradient_BT[:, :6] > 0).all()


def test_without_the_mask_the_future_is_seen(small_spec: ModelSpec) -> None:
    model, window = model_of(small_spec, causal=False), ids()
    changed = window.clone()
    changed[:, 9] = (changed[:, 9] + 1) % VOCAB
    assert (model(window)[:, 3] != model(changed)[:, 3]).any()


@pytest.mark.parametrize("pos", ["none", "learned", "sinusoidal", "rope", "alibi"])
@pytest.mark.parametrize("mixer", ["uniform", "attention"])
def test_cached_logits_equal_uncached_ones(small_spec: ModelSpec, mixer: str, pos: str) -> None:
    if mixer == "uniform" and pos in ("rope", "alibi"):
        return
    model = model_of(small_spec, mixer=mixer, pos=pos, n_blocks=2)
    cache = ModelCache(2, capacity=12)
    pieces = [model(piece, cache) for piece in ids().split([4, 1, 1, 6], dim=1)]
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(ids()))


def test_a_full_cache_refuses_more(small_spec: ModelSpec) -> None:
    model = model_of(small_spec, pos="none")
    with pytest.raises(ValueError, match="holds 5 tokens"):
        model(ids(), ModelCache(1, capacity=5))


def test_learned_positions_end(small_spec: ModelSpec) -> None:
    with pytest.raises(ValueError, match="no row"):
        model_of(small_spec)(ids(length=13))


def test_rope_and_alibi_have_no_table_beside_them(small_spec: ModelSpec) -> None:
    learned = parameter_count(model_of(small_spec))
    for pos in ("none", "sinusoidal", "rope", "alibi"):
        assert parameter_count(model_of(small_spec, pos=pos)) == learned - 12 * 16


def test_rope_turns_no_values(small_spec: ModelSpec) -> None:
    """A window of one repeated token has equal values, so its mix is that value at any position."""
    model = model_of(small_spec, pos="rope")
    layer = model.blocks[0].sublayers[0].inner
    x_BTD = torch.randn(1, 1, 16, dtype=torch.float64).expand(1, 12, 16)
    mixed_BTD = layer(x_BTD)
    torch.testing.assert_close(mixed_BTD, mixed_BTD[:, :1].expand_as(mixed_BTD))


def test_tied_embeddings_are_one_tensor(small_spec: ModelSpec) -> None:
    tied, untied = model_of(small_spec, tie_embeddings=True), model_of(small_spec)
    assert tied.output.weight is tied.embedding.weight
    assert parameter_count(untied) - parameter_count(tied) == VOCAB * 16


def test_dropout_acts_in_all_three_places(small_spec: ModelSpec) -> None:
    model = model_of(small_spec, dropout=0.5)
    attention = model.blocks[0].sublayers[0]
    x_BTD = torch.randn(2, 12, 16, dtype=torch.float64)
    places = (model.embed, attention.inner, attention.dropout)
    inputs = (ids(), x_BTD, x_BTD)
    for place, given in zip(places, inputs, strict=True):
        model.eval()
        assert torch.equal(place(given), place(given))
        model.train()
        assert not torch.equal(place(given), place(given))


class TestAblations:
    """Every entry of `ablations` in params.yaml, built for real."""

    def test_each_differs_from_base_in_its_declared_keys_only(self, params: dict[str, Any]) -> None:
        base = resolve(params["base"], {}, "base").model_dump()
        for name, entry in params["ablations"].items():
            spec = ablation_plan(params, name).spec.model_dump()
            differing = {key for key, value in spec.items() if value != base[key]}
            declared = set(entry) - {"budget", "evaluate_with"}
            assert differing <= declared, name

    def test_each_builds_and_steps(self, params: dict[str, Any]) -> None:
        for name in params["ablations"]:
            spec = ablation_plan(params, name).spec
            width = max(8, spec.n_heads)
            head = spec.d_head and width
            narrow = {"d_model": width, "context": 6, "d_head": head, "n_positions": None}
            model = build(resolve(spec.model_dump(), narrow, name), VOCAB)
            model.loss(ids(2, 6), ids(2, 6)).backward()
            assert all(p.grad is not None for p in model.parameters()), name

    def test_each_changes_the_function(self, params: dict[str, Any]) -> None:
        """Different specs give different logits from the same seed; only budgets may repeat."""
        seen: dict[str, str] = {}
        for name in params["ablations"]:
            spec = ablation_plan(params, name).spec
            torch.manual_seed(0)
            model = build(resolve(spec.model_dump(), {"context": 6}, name), VOCAB)
            with torch.no_grad():
                # In training mode, so that dropout counts.
                logits = model.train()(ids(2, 6))
            key = str(logits.double().sum().item())
            other = seen.setdefault(key, name)
            same_spec = ablation_plan(params, other).spec == spec
            one_width = {other, name} <= {"scaling_128_divided", "scaling_short_128_divided"}
            assert other == name or same_spec or one_width, (name, other)

    @pytest.mark.parametrize(
        ("larger", "smaller", "difference"),
        [("heads", "head", 16_512), ("one_block", "feed_forward", 768)],
    )
    def test_rungs_differ_by_the_chapters_parameters(
        self, params: dict[str, Any], larger: str, smaller: str, difference: int
    ) -> None:
        counts = [
            parameter_count(build(ablation_plan(params, name).spec, 1024))
            for name in (larger, smaller)
        ]
        assert counts[0] - counts[1] == difference
