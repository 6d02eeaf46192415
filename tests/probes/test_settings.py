"""What `probes` in params.yaml may say, and the one line that answers what it may not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remeasure.errors import ParameterError
from remeasure.params.model import ModelSpec
from remeasure.params.probes import PROBES, probe_settings


def test_every_probe_has_settings_a_module_and_an_entry(params: dict[str, Any], root: Path) -> None:
    assert set(params["probes"]) == set(PROBES)
    for name in PROBES:
        probe_settings(params, name)
        assert (root / "src/remeasure/probes" / f"{name}.py").is_file()


def test_models_are_completed_by_base(small_probe_params: dict[str, Any]) -> None:
    base = ModelSpec.model_validate(small_probe_params["base"])
    symmetry: Any = probe_settings(small_probe_params, "symmetry")
    assert symmetry.unordered == base.model_copy(update={"causal": False, "pos": "none"})
    assert symmetry.ordered["mask"] == base.model_copy(update={"pos": "none"})
    parameters: Any = probe_settings(small_probe_params, "parameters")
    assert parameters.one_block == base


def test_an_unknown_probe_is_answered_with_those_there_are(
    small_probe_params: dict[str, Any],
) -> None:
    with pytest.raises(ParameterError) as caught:
        probe_settings(small_probe_params, "random_scores")
    assert str(caught.value) == f"'random_scores' is no probe; there are: {', '.join(PROBES)}"


def test_a_probe_without_an_entry(small_probe_params: dict[str, Any]) -> None:
    without = {**small_probe_params, "probes": {"averaging": {}}}
    with pytest.raises(ParameterError, match="probes: has no key 'symmetry'; there are: averaging"):
        probe_settings(without, "symmetry")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("averaging", {"tokens": 1}, "probes.averaging.tokens: 1 is not allowed"),
        (
            "averaging",
            {"width": 8},
            "probes.averaging.width: unknown key; known are: seed, tokens,",
        ),
        ("position_definitions", {"head_width": 3}, "probes.position_definitions.head_width: 3 is"),
        ("score_variance", {"widths": []}, "probes.score_variance.widths: [] is not allowed"),
        ("symmetry", {"unordered": "none"}, "probes.symmetry.unordered: 'none' is no mapping"),
        ("symmetry", {"unordered": {"mask": 1}}, "probes.symmetry.unordered.mask: unknown key;"),
        ("symmetry", {"ordered": {"a": {"pos": 1}}}, "probes.symmetry.ordered.a.pos: 1 is not one"),
        ("symmetry", {"ordered": [{}]}, "probes.symmetry.ordered: [{}] is no mapping of keys"),
        ("residual_stream", {"windows": True}, "probes.residual_stream.windows: True is not"),
    ],
)
def test_one_line_says_what_is_wrong(
    small_settings: Callable[..., Any], name: str, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        small_settings(name, **change)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("section", "where"), [("base", "base"), ("entry", "probes.averaging")])
def test_sections_that_are_no_mappings(
    small_probe_params: dict[str, Any], section: str, where: str
) -> None:
    base = [] if section == "base" else small_probe_params["base"]
    entry = [] if section == "entry" else small_probe_params["probes"]["averaging"]
    with pytest.raises(ParameterError, match=rf"{where}: \[\] is no mapping of keys"):
        probe_settings({"base": base, "probes": {"averaging": entry}}, "averaging")
