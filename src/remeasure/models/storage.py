"""Trained weights as a plain safetensors file that carries its own configuration."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from remeasure.errors import ParameterError, UserError
from remeasure.models.build import build
from remeasure.models.language_model import LanguageModel
from remeasure.params.model import ModelSpec
from remeasure.params.reading import check
from remeasure.records.files import replacing


def save_model(path: Path, model: LanguageModel, spec: ModelSpec, tokenizer: str) -> None:
    """Write the weights with `spec` and the tokenizer's JSON inside, atomically."""
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    if spec.tie_embeddings:
        # One tensor under two names cannot be stored; build() ties them again.
        del tensors["output.weight"]
    content = {"spec": spec.model_dump(mode="json"), "tokenizer": tokenizer}
    notes = json.dumps({**content, "sha256": _digest(tensors)})
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"remeasure": notes})


def load_model(path: Path) -> tuple[LanguageModel, ModelSpec, str]:
    """The model in evaluation mode on the CPU, its description, and its tokenizer's JSON.

    Raises UserError if the file is missing, damaged, or of another version of the parameters.
    """
    try:
        with safe_open(path, framework="pt") as file:
            notes = json.loads((file.metadata() or {})["remeasure"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise UserError(f"{path}: not found; 'dvc repro train' makes it") from None
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise UserError(
            f"{path}: no model of this project or damaged ({type(error).__name__});"
            " 'dvc repro --force train' makes it anew"
        ) from None
    try:
        spec, digest = check(ModelSpec, notes["spec"], str(path)), notes["sha256"]
        model = build(spec, len(tensors["embedding.weight"]))
        model.load_state_dict(tensors, strict=not spec.tie_embeddings)
    except (ParameterError, KeyError, RuntimeError) as error:
        raise UserError(
            f"{path}: was written by another version of the parameters ({error});"
            " 'dvc repro --force train' makes it anew"
        ) from None
    if digest != _digest(tensors):
        raise UserError(
            f"{path}: damaged (the weights are not those that were stored);"
            " 'dvc repro --force train' makes it anew"
        )
    model.eval()
    return model, spec, notes["tokenizer"]


def _digest(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of names and numbers: safetensors itself keeps no checksum."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].cpu().numpy().tobytes())
    return digest.hexdigest()
