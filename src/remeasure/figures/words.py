"""Numbers as words, the same in figures, their descriptions and the report's text."""

import math
from collections.abc import Iterable

from remeasure.records.results import Spread

MINUS = "−"


def fixed(value: float, digits: int = 2) -> str:
    """So many decimals, thousands apart, with a real minus sign; never `−0`."""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else _minus(text)


def significant(value: float, digits: int = 3) -> str:
    """So many significant digits; a power of ten where a plain number would not be read."""
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -3 or size >= 7:
        mantissa = f"{value / 10**size:.{digits - 1}f}"
        return _minus(f"{mantissa}·10{_superscript(size)}")
    return fixed(value, max(0, digits - 1 - size))


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return f"{fixed(100 * share, digits)} %"


def count(value: float) -> str:
    """A whole number, thousands apart."""
    return f"{round(value):,}"


def counted(number: int, one: str) -> str:
    """`1 seed` and `3 seeds`, of a noun that adds an s."""
    return f"{count(number)} {one if number == 1 else one + 's'}"


def with_spread(found: Spread, digits: int = 2) -> str:
    """A mean, its deviation and the number of seeds, in words for descriptions."""
    text = fixed(found.mean, digits)
    return text if not found.std else f"{text} ± {fixed(found.std, digits)}"


def listed(parts: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = list(parts) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{fixed(seconds, 0 if seconds >= 10 else 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def _minus(text: str) -> str:
    return text.replace("-", MINUS)


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
