"""Models whose weights are written down, not trained: the circuit of Elhage et al. 2021, and less.

The residual stream has a place of its own for each thing: the token, the token before it, the
answer, the position. A matrix that copies one place to another is an identity between them.

Shapes: K width of the one head, D = K width of the stream.
"""

import torch

from remeasure.models.build import build

TOKENS, POSITIONS = 20, 24
TOKEN, BEFORE, ANSWER = 0, TOKENS, 2 * TOKENS
POSITION = 3 * TOKENS
WIDTH = POSITION + POSITIONS
SHARP = 2000.0
"""A score so far above the others that its weight is one."""


def model_of(spec, n_blocks):
    """All weights zero but the embeddings, which say what a token and a position are."""
    keys = {
        "d_model": WIDTH,
        "context": POSITIONS,
        "n_blocks": n_blocks,
        "n_heads": 1,
        "ffn": "none",
        "norm": "none",
    }
    model = build(spec.model_copy(update=keys), TOKENS).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.embedding.weight[:, TOKEN : TOKEN + TOKENS] = torch.eye(TOKENS)
        model.positions.table.weight[:, POSITION : POSITION + POSITIONS] = torch.eye(POSITIONS)
        model.output.weight[:, ANSWER : ANSWER + TOKENS] = 30 * torch.eye(TOKENS)
    return model


@torch.no_grad()
def look(layer, query, key, copies, to):
    """The layer's head matches `query` with `key` ([D, K] each) and copies a token's place."""
    layer.query_key_value.weight[:WIDTH] = SHARP * query.T
    layer.query_key_value.weight[WIDTH : 2 * WIDTH] = key.T
    layer.query_key_value.weight[2 * WIDTH :] = torch.eye(WIDTH)
    layer.output.weight[to : to + TOKENS, copies : copies + TOKENS] = torch.eye(TOKENS)


def back_by(distance):
    """Query and key of a head that looks `distance` positions back, and nowhere by content."""
    query, key = torch.zeros(2, WIDTH, WIDTH)
    for position in range(POSITIONS):
        query[POSITION + position, max(0, position - distance)] = 1
        key[POSITION + position, position] = 1
    return query, key


def same_token_before():
    """Query and key of a head that looks where its own token is the one before."""
    query, key = torch.zeros(2, WIDTH, WIDTH)
    query[TOKEN : TOKEN + TOKENS, :TOKENS] = torch.eye(TOKENS)
    key[BEFORE : BEFORE + TOKENS, :TOKENS] = torch.eye(TOKENS)
    # The first token has none before it: in layer 1 it can only look at itself.
    key[POSITION, :TOKENS] = -1
    return query, key


def layers(model):
    """The attention layers, first one first."""
    return [block.sublayers[0].inner for block in model.blocks]


def induction_model(spec):
    """Layer 1 notes the previous token; layer 2 finds where that was the present one."""
    model = model_of(spec, 2)
    first, second = layers(model)
    look(first, *back_by(1), copies=TOKEN, to=BEFORE)
    look(second, *same_token_before(), copies=TOKEN, to=ANSWER)
    return model


def positional_model(spec, period):
    """One layer that answers with the token one period before the next."""
    model = model_of(spec, 1)
    look(*layers(model), *back_by(period - 1), copies=TOKEN, to=ANSWER)
    return model
