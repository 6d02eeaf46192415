"""Sample from a language model with a cache of keys and values.

Shapes: T tokens read at once, V vocabulary.
"""

from collections.abc import Iterator, Sequence

import torch
from tokenizers import Tokenizer

from remeasure.models.cache import ModelCache
from remeasure.models.language_model import LanguageModel
from remeasure.params.sample import SampleSettings


@torch.no_grad()
def generate(
    model: LanguageModel,
    prompt: Sequence[int],
    context: int,
    temperature: float,
    generator: torch.Generator,
) -> Iterator[int]:
    """Endlessly draw the next token from softmax(logits / temperature).

    The model never sees more than `context` tokens: when the window is full, reading starts again
    from its later half. Raises ValueError for an empty prompt.
    """
    if not prompt:
        raise ValueError("the prompt has no token to start from")
    model.eval()
    device = model.output.weight.device
    seen = list(prompt)[-context:]
    cache = ModelCache(len(model.blocks), context)
    unread = seen
    while True:
        logits_V = model(torch.tensor([unread], device=device), cache)[0, -1]
        weights_V = (logits_V.double() / temperature).softmax(-1).cpu()
        token = int(torch.multinomial(weights_V, 1, generator=generator))
        yield token
        seen.append(token)
        unread = [token]
        if cache.length == context:
            seen = unread = seen[-(context // 2 + 1) :]
            cache = ModelCache(len(model.blocks), context)


def sample(
    model: LanguageModel, context: int, tokenizer: Tokenizer, settings: SampleSettings
) -> str:
    """The prompt and `settings.tokens` tokens that the model adds to it, as text."""
    prompt = tokenizer.encode(settings.prompt).ids
    drawn = generate(
        model,
        prompt,
        context,
        settings.temperature,
        torch.Generator().manual_seed(settings.seed),
    )
    written = [next(drawn) for _ in range(settings.tokens)]
    return str(tokenizer.decode([*prompt, *written]))
