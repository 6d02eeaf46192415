import pytest

from remeasure.ledger.values import NotMeasured, numbers, per_seed, value_at
from remeasure.records.spread import spread

RECORD = {
    "rows": [{"ms": {"median": 1.0}}, {"ms": None}],
    "widths": {"4": {"std": 2.0}, "16": {"std": 4.0}},
}


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("widths.16.std", 4.0),
        ("widths.*.std", [2.0, 4.0]),
        ("rows.0.ms.median", 1.0),
        ("rows.*.ms.median", [1.0, None]),
    ],
)
def test_an_address_leads_to_its_value(address: str, value: object) -> None:
    assert value_at(RECORD, address.split(".")) == value


@pytest.mark.parametrize("address", ["widths.64.std", "rows.2.ms", "widths.4.std.mean", "rows.x"])
def test_an_address_that_leads_nowhere_is_refused(address: str) -> None:
    with pytest.raises(NotMeasured, match="has no"):
        value_at(RECORD, address.split("."))


def test_numbers_are_those_of_each_seed() -> None:
    assert numbers([spread({0: 1.0, 3: 2.0}), 5, {"a": 6.0}]) == [1.0, 2.0, 5, 6.0]


@pytest.mark.parametrize("value", [None, True, "1", float("nan"), float("inf")])
def test_anything_else_is_no_number(value: object) -> None:
    with pytest.raises(NotMeasured, match="where a number is expected"):
        numbers([1.0, value])


def test_seeds_keep_their_values() -> None:
    assert per_seed(spread({3: 1.0, 0: 2.0})) == {3: 1.0, 0: 2.0}
    with pytest.raises(NotMeasured, match="over seeds"):
        per_seed({"mean": 1.0})
