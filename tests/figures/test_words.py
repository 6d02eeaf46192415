import pytest

from remeasure.figures.words import counted, duration, fixed, listed, percent, significant


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (38.066, 2, "38.07"),
        (-2.14, 1, "−2.1"),
        (1234.5, 0, "1,234"),
        (-0.001, 2, "0.00"),
        (0.0, 1, "0.0"),
    ],
)
def test_fixed(value: float, digits: int, text: str) -> None:
    assert fixed(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (5.96e-8, "5.96·10⁻⁸"),
        (-5.96e-8, "−5.96·10⁻⁸"),
        (0.0498, "0.0498"),
        (21.44, "21.4"),
        (5147.2, "5,147"),
        (4.2e9, "4.20·10⁹"),
    ],
)
def test_significant(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.31, "0.3 s"), (61.2, "61 s"), (150, "2 min"), (3 * 3600 + 7 * 60, "3 h 07 min")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_counted() -> None:
    assert [counted(number, "seed") for number in (0, 1, 2)] == ["0 seeds", "1 seed", "2 seeds"]


def test_listed() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a"]) == "a"
    assert listed([]) == ""


def test_percent() -> None:
    assert percent(0.2786) == "27.9 %"
