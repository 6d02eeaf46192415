"""Text that a trained model is asked to write."""

from typing import Annotated

from pydantic import Field

from remeasure.params.reading import Settings


class SampleSettings(Settings):
    """A prompt, how many tokens to add, the softmax temperature, and the seed of the draws."""

    prompt: Annotated[str, Field(min_length=1)]
    tokens: Annotated[int, Field(ge=1, le=100_000)]
    temperature: Annotated[float, Field(gt=0, le=100)]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
