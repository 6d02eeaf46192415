from itertools import combinations

import numpy as np
import pytest

from remeasure.figures.style import DARK, LIGHT, SERIES

SCHEMES = {"light": LIGHT, "dark": DARK}
TEXT = ("ink", "muted", *SERIES)
# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(1)


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    lighter, darker = sorted((float(TO_XYZ[1] @ linear(c)) for c in (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    scaled = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("role", TEXT)
def test_text_passes_wcag_aa_on_the_page(scheme: str, role: str) -> None:
    colours = SCHEMES[scheme]
    assert contrast(colours[role], colours["surface"]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_passes_wcag_aa_on_the_strongest_heat(scheme: str) -> None:
    assert contrast(SCHEMES[scheme]["ink"], SCHEMES[scheme]["heat"]) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_series_stay_apart_for_the_colour_blind(scheme: str, blindness: str) -> None:
    seen = {
        role: lab(np.array(BLINDNESS[blindness]) @ linear(SCHEMES[scheme][role])) for role in SERIES
    }
    for one, other in combinations(SERIES, 2):
        assert np.linalg.norm(seen[one] - seen[other]) > 15, f"{one} and {other}"


def test_both_schemes_have_the_same_roles() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert len(set(LIGHT.values())) == len(LIGHT), "a colour must tell its role"
