import itertools

import pytest
import torch

from remeasure.masked.orders import chain_rule, change_before
from remeasure.models.build import build

SYMBOLS, LENGTH = 3, 4
MASK = SYMBOLS


@pytest.fixture
def joint():
    """A random distribution over all windows, [V, V, V, V]."""
    generator = torch.Generator().manual_seed(0)
    return torch.rand(*[SYMBOLS] * LENGTH, generator=generator, dtype=torch.float64).softmax(0) / (
        SYMBOLS ** (LENGTH - 1)
    )


def conditionals_of(joint):
    """Fills in by summing the joint over all that is hidden: consistent by construction."""

    def fill(ids_BT, place):
        rows = []
        for window in ids_BT.tolist():
            kept = tuple(slice(None) if token == MASK else token for token in window)
            seen = [token != MASK for token in window]
            table = joint[kept]
            own = place - sum(seen[:place])
            others = [axis for axis in range(table.dim()) if axis != own]
            rows.append(table.sum(others) if others else table)
        p_BV = torch.stack(rows)
        return (p_BV / p_BV.sum(1, keepdim=True)).log()

    return fill


def test_consistent_conditionals_give_the_joint_in_every_order(joint):
    whole_BT = torch.tensor(list(itertools.product(range(SYMBOLS), repeat=LENGTH)))
    expected_B = -joint.flatten().log()
    for order in itertools.permutations(range(LENGTH)):
        nats_BT = chain_rule(conditionals_of(joint), whole_BT, torch.tensor(order), MASK)
        torch.testing.assert_close(nats_BT.sum(1), expected_B, msg=str(order))


def test_inconsistent_conditionals_are_told_by_their_orders():
    def fill(ids_BT, place):
        """Two tokens of which only the second depends on the other."""
        p_BV = torch.full((len(ids_BT), 2), 0.5, dtype=torch.float64)
        if place == 1:
            p_BV[ids_BT[:, 0] == 1] = torch.tensor([0.1, 0.9], dtype=torch.float64)
        return p_BV.log()

    whole_BT = torch.tensor([[1, 1]])
    forth = chain_rule(fill, whole_BT, torch.tensor([0, 1]), 2)
    back = chain_rule(fill, whole_BT, torch.tensor([1, 0]), 2)
    torch.testing.assert_close(forth.exp(), torch.tensor([[2, 1 / 0.9]]).double())
    torch.testing.assert_close(back.exp(), torch.tensor([[2.0, 2.0]]).double())


def test_a_model_that_sees_no_other_token_gives_one_sum_in_every_order(model_of):
    model = model_of(mixer="none")
    whole_BT = torch.arange(24).view(2, 12) % 17
    forth, back = (
        chain_rule(model.log_probabilities, whole_BT, order_T, 17).sum(1)
        for order_T in (torch.arange(12), torch.arange(12).flip(0))
    )
    torch.testing.assert_close(forth, back)


def test_a_model_that_sees_both_sides_need_not(model_of):
    model = model_of()
    whole_BT = torch.arange(24).view(2, 12) % 17
    forth, back = (
        chain_rule(model.log_probabilities, whole_BT, order_T, 17).sum(1)
        for order_T in (torch.arange(12), torch.arange(12).flip(0))
    )
    assert (forth - back).abs().min() > 1e-4


def test_a_token_is_hidden_until_after_its_turn():
    shown = []

    def fill(ids_BT, place):
        shown.append((place, ids_BT.tolist()))
        return torch.zeros(1, 10)

    chain_rule(fill, torch.tensor([[5, 6, 7]]), torch.tensor([2, 0, 1]), 9)
    assert shown == [(2, [[9, 9, 9]]), (0, [[9, 9, 7]]), (1, [[5, 9, 7]])]


def test_revealing_a_token_changes_what_is_before_it_unless_a_mask_forbids(model_of, small_spec):
    model = model_of()
    whole_BT = torch.arange(24).view(2, 12) % 17
    largest, relative = change_before(model.features, whole_BT, 6, 17)
    assert largest > 1e-3
    assert relative > 1e-3
    causal = build(small_spec, 18).double().eval()
    causal.load_state_dict(model.model.state_dict())
    assert change_before(causal.features, whole_BT, 6, 17) == (0.0, 0.0)


def test_the_change_is_measured_before_the_place_alone():
    def features(ids_BT):
        # Each place holds the sum of all tokens but its own, and the place's number besides.
        return (ids_BT.sum(1, keepdim=True) - ids_BT)[..., None].double()

    whole_BT = torch.tensor([[1, 2, 5, 4]])
    largest, relative = change_before(features, whole_BT, 2, 9)
    assert largest == 4.0
    assert relative == pytest.approx(4 / ((20**2 + 19**2) / 2) ** 0.5)
