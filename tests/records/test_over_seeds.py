from remeasure.records.over_seeds import over_seeds
from remeasure.records.spread import spread


def test_addresses_become_levels_and_values_spreads():
    measured = {0: {"a.b": 1.0, "a.c": 2.0, "d": 5.0}, 3: {"a.b": 3.0, "a.c": 2.0, "d": 7.0}}
    assert over_seeds(measured) == {
        "a": {"b": spread({0: 1.0, 3: 3.0}), "c": spread({0: 2.0, 3: 2.0})},
        "d": spread({0: 5.0, 3: 7.0}),
    }


def test_what_is_not_defined_stays_none():
    assert over_seeds({0: {"a.b": None}, 1: {"a.b": None}}) == {"a": {"b": None}}
