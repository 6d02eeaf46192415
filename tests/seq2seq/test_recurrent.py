"""The two LSTM pairs, against loops written out from the equations of their papers."""

import torch
from small_translators import small, sources
from torch.nn import functional as F


def step(cell, x_BD, h_BD, c_BD):
    """One step of an LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of 2000)."""
    suffix = "" if hasattr(cell, "weight_ih") else "_l0"
    w_ih, w_hh, b_ih, b_hh = (
        getattr(cell, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    i, f, g, o = (x_BD @ w_ih.T + b_ih + h_BD @ w_hh.T + b_hh).chunk(4, dim=-1)
    c_BD = f.sigmoid() * c_BD + i.sigmoid() * g.tanh()
    return o.sigmoid() * c_BD.tanh(), c_BD


def encode(model, source_BS):
    h_BD = c_BD = torch.zeros(len(source_BS), 8, dtype=torch.float64)
    states = []
    for letter_B in source_BS.T:
        h_BD, c_BD = step(model.encoder, model.embedding(letter_B), h_BD, c_BD)
        states.append(h_BD)
    return torch.stack(states, 1), h_BD, c_BD


def test_the_lstm_hands_over_its_last_state_alone() -> None:
    model, source_BS, shifted_BT = small("lstm"), sources(5, 3), sources(4, 3, seed=1)
    _, h_BD, c_BD = encode(model, source_BS)
    expected = []
    for letter_B in shifted_BT.T:
        h_BD, c_BD = step(model.decoder, model.embedding(letter_B), h_BD, c_BD)
        expected.append(h_BD)
    torch.testing.assert_close(model.features(source_BS, shifted_BT), torch.stack(expected, 1))


def test_additive_attention_is_that_of_the_paper() -> None:
    model, source_BS, shifted_BT = small("bahdanau"), sources(5, 3), sources(4, 3, seed=1)
    states_BSD, h_BD, c_BD = encode(model, source_BS)
    attention = model.attention
    features, weights = [], []
    for letter_B in shifted_BT.T:
        scores = [
            torch.tanh(
                h_BD @ attention.query.weight.T
                + attention.query.bias
                + state_BD @ attention.key.weight.T
            )
            @ attention.score.weight[0]
            for state_BD in states_BSD.unbind(1)
        ]
        weights_BS = F.softmax(torch.stack(scores, 1), dim=1)
        context_BD = torch.einsum("bs,bsd->bd", weights_BS, states_BSD)
        read = torch.cat([model.embedding(letter_B), context_BD], 1)
        h_BD, c_BD = step(model.decoder, read, h_BD, c_BD)
        features.append(torch.cat([h_BD, context_BD], 1))
        weights.append(weights_BS)
    torch.testing.assert_close(model.features(source_BS, shifted_BT), torch.stack(features, 1))
    (found,) = model.weights(source_BS, shifted_BT)
    torch.testing.assert_close(found[:, 0], torch.stack(weights, 1))


def test_only_with_attention_do_earlier_states_reach_the_target() -> None:
    """With the last state held fast, the LSTM's target hears nothing more of the source."""
    for name, hears in (("lstm", False), ("bahdanau", True)):
        model = small(name)
        kept = {}

        def hold(module, args, result, kept=kept):
            states_BSD, last = result
            kept["states"] = states_BSD.detach().requires_grad_()
            return kept["states"], tuple(part.detach() for part in last)

        handle = model.encoder.register_forward_hook(hold)
        model.features(sources(5, 2), sources(5, 2, seed=1)).square().sum().backward()
        handle.remove()
        grad = kept["states"].grad
        assert (grad is not None and bool(grad.abs().sum() > 0)) == hears
