"""The command that lets the trained model write."""

from pathlib import Path

import pytest
import torch

from remeasure import sample
from remeasure.data.bpe import train
from remeasure.errors import UserError
from remeasure.models.build import build
from remeasure.models.storage import save_model
from remeasure.params.model import ModelSpec

TEXT = "Ré, who goes thére? " * 30


@pytest.fixture
def model(tmp_path: Path, small_spec: ModelSpec) -> Path:
    """An untrained model with its tokenizer inside."""
    tokenizer = train(TEXT, 280)
    torch.manual_seed(0)
    path = tmp_path / "model.safetensors"
    save_model(path, build(small_spec, tokenizer.get_vocab_size()), small_spec, tokenizer.to_str())
    return path


def test_it_goes_on_from_the_prompt_and_repeats_itself(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--model", str(model), "--prompt", "who", "--tokens", "40"]
    outputs = []
    for seed in ("1", "1", "2"):
        sample.main([*words, "--seed", seed])
        outputs.append(capsys.readouterr().out)
    assert outputs[0].startswith("who")
    assert outputs[0] == outputs[1] != outputs[2]
    assert len(outputs[0]) > 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tokens", "0"], "--tokens: 0 is not allowed"),
        (["--temperature", "0"], r"--temperature: 0\.0 is not allowed"),
        (["--prompt", ""], "--prompt: is empty"),
    ],
)
def test_bad_words(model: Path, words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        sample.main(["--model", str(model), *words])


def test_a_missing_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dvc repro train"):
        sample.main(["--model", str(tmp_path / "model.safetensors")])
