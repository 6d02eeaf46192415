"""How much arithmetic a training step is, so that speeds can be held against a matrix multiply's.

Shapes: B batch, T tokens, D width, H heads, K head width, V vocabulary.
"""

from remeasure.params.model import ModelSpec

FORWARD_AND_BACKWARD = 3
"""Each product of the forward pass has two of its size in the backward pass."""


def flops_per_token(spec: ModelSpec, vocab_size: int) -> int:
    """Multiplications and additions of all matrix products of a training step, for each token.

    Attention counts whole, [T, T] a head, as the written-out form computes it: what the causal
    mask throws away is not deducted.
    """
    width = spec.n_heads * spec.head_width
    block = 0
    if spec.mixer == "attention":
        block += 3 * spec.d_model * width + 2 * spec.context * width
        block += width * spec.d_model if spec.output_projection else 0
    elif spec.mixer == "uniform":
        block += spec.context * spec.d_model
    if spec.ffn == "gelu":
        block += 2 * spec.ffn_multiple * spec.d_model**2
    products = spec.n_blocks * block + spec.d_model * vocab_size
    return 2 * FORWARD_AND_BACKWARD * products
