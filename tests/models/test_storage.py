"""The model file: it carries its configuration, and what is wrong with it is said in one line."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from remeasure.errors import UserError
from remeasure.models.build import build
from remeasure.models.storage import load_model, save_model
from remeasure.params.ablations import resolve
from remeasure.params.model import ModelSpec


@pytest.mark.parametrize("tied", [True, False])
def test_round_trip(tmp_path: Path, small_spec: ModelSpec, tied: bool) -> None:
    spec = resolve(small_spec.model_dump(), {"tie_embeddings": tied}, "test")
    model = build(spec, 29).eval()
    save_model(tmp_path / "model.safetensors", model, spec, '{"a": 1}')
    loaded, loaded_spec, tokenizer = load_model(tmp_path / "model.safetensors")
    window = torch.randint(29, (2, 12))
    assert torch.equal(model(window), loaded(window))
    assert (loaded_spec, tokenizer) == (spec, '{"a": 1}')


def test_the_same_model_gives_the_same_bytes(tmp_path: Path, small_spec: ModelSpec) -> None:
    model = build(small_spec, 29)
    for name in ("a", "b"):
        save_model(tmp_path / name, model, small_spec, "{}")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not found; 'dvc repro train' makes it"):
        load_model(tmp_path / "model.safetensors")


def test_truncated(tmp_path: Path, small_spec: ModelSpec) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, build(small_spec, 29), small_spec, "{}")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UserError, match="damaged"):
        load_model(path)


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    torch.save({"embedding.weight": torch.zeros(3)}, tmp_path / "model.safetensors")
    with pytest.raises(UserError, match="no model of this project"):
        load_model(tmp_path / "model.safetensors")


def test_another_version_of_the_parameters(tmp_path: Path, small_spec: ModelSpec) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, build(small_spec, 29), small_spec, "{}")
    save_file(
        load_file(path), path, metadata={"remeasure": '{"spec": {"width": 3}, "tokenizer": ""}'}
    )
    with pytest.raises(UserError, match="another version of the parameters"):
        load_model(path)


def test_a_flipped_bit_in_the_weights_is_noticed(tmp_path: Path, small_spec: ModelSpec) -> None:
    path = tmp_path / "model.safetensors"
    save_model(path, build(small_spec, 29), small_spec, "{}")
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(UserError, match="damaged"):
        load_model(path)
