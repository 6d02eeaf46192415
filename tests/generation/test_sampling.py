"""Sampling with the cache draws what sampling without it would draw."""

from itertools import islice

import pytest
import torch

from remeasure.generation.sampling import generate
from remeasure.models.build import build
from remeasure.params.ablations import resolve
from remeasure.params.model import ModelSpec


@pytest.mark.parametrize("pos", ["learned", "rope", "alibi"])
def test_equals_sampling_without_a_cache(small_spec: ModelSpec, pos: str) -> None:
    torch.manual_seed(0)
    model = build(resolve(small_spec.model_dump(), {"pos": pos}, "test"), 17).eval()
    generator = torch.Generator().manual_seed(4)
    seen = [3, 1]
    expected = []
    for _ in range(40):
        logits = model(torch.tensor([seen]))[0, -1].double() / 0.7
        expected.append(int(torch.multinomial(logits.softmax(-1), 1, generator=generator)))
        # When the window of 12 has been read whole, reading starts again from its later half.
        seen = [*seen, expected[-1]] if len(seen) < 12 else [*seen, expected[-1]][-7:]
    drawn = generate(model, [3, 1], 12, 0.7, torch.Generator().manual_seed(4))
    assert list(islice(drawn, 40)) == expected


def test_a_low_temperature_takes_the_likeliest(small_spec: ModelSpec) -> None:
    model = build(small_spec, 17).eval()
    token = next(generate(model, [5], 12, 1e-6, torch.Generator()))
    assert token == int(model(torch.tensor([[5]]))[0, -1].argmax())


def test_an_empty_prompt_is_refused(small_spec: ModelSpec) -> None:
    with pytest.raises(ValueError, match="no token to start from"):
        next(generate(build(small_spec, 17), [], 12, 1.0, torch.Generator()))
