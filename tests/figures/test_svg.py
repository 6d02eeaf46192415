import re
from xml.etree import ElementTree

import pytest

from remeasure.figures import style, svg
from remeasure.figures.picture import Picture
from remeasure.figures.style import colour, panel


def picture() -> Picture:
    with style.applied():
        figure, axes = panel()
        axes.plot([0, 1], [1, 2], color=colour("blue"), marker="o")
        axes.fill_between([0, 1], [0, 1], [2, 3], color=colour("orange"), alpha=0.2)
        axes.set_title("title & <more>")
    return Picture(figure, 'a line with "quotes" & more')


def test_colours_are_variables_of_the_page() -> None:
    text = svg.inline(picture(), "name")
    assert "var(--blue)" in text
    assert "var(--orange)" in text
    assert not re.search(r"#[0-9a-fA-F]{6}", text)


def test_a_colour_that_is_no_role_is_refused() -> None:
    with style.applied():
        figure, axes = panel()
        axes.plot([0, 1], [1, 2], color="#123456")
    with pytest.raises(KeyError):
        svg.inline(Picture(figure, ""), "name")


def test_text_stays_text_and_names_its_content() -> None:
    root = ElementTree.fromstring(svg.inline(picture(), "name"))
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'a line with "quotes" & more'
    texts = [element.text for element in root.iter(f"{svg.SVG}text")]
    assert "title & <more>" in texts


def test_ids_belong_to_the_figure_and_are_all_there() -> None:
    text = svg.inline(picture(), "name")
    defined = set(re.findall(r' id="([^"]+)"', text))
    used = set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))
    assert used
    assert used <= defined
    assert all(name.startswith("name-") for name in defined)


def styles(text: str) -> list[tuple[str, str]]:
    """Each element's tag and style, wherever the style is written."""
    root = ElementTree.fromstring(text)
    rules = dict(re.findall(r"#name-drawing \.(\w+)\{([^}]+)\}", text))
    return [
        (element.tag, element.get("style") or rules[element.get("class", "")])
        for element in root.iter()
        if element.get("style") or element.get("class")
    ]


def test_a_shared_style_is_written_once_and_is_every_element_s_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = svg.inline(picture(), "name")
    monkeypatch.setattr(svg, "_share_styles", lambda root, name: None)
    apart = svg.inline(picture(), "name")
    assert "class=" in shared
    assert "class=" not in apart
    assert styles(shared) == styles(apart)
    written = re.findall(r'(?:style="|\{)([^"}]+)["}]', shared)
    assert len(written) == len(set(written))
    assert len(shared) < len(apart)


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert svg.inline(picture(), "name") == svg.inline(picture(), "name")


def test_a_file_of_its_own_brings_both_colour_schemes() -> None:
    root = ElementTree.fromstring(svg.standalone(svg.inline(picture(), "name")))
    title, colours = root[0], root[1]
    assert title.text == 'a line with "quotes" & more'
    assert style.LIGHT["blue"] in (colours.text or "")
    assert style.DARK["blue"] in (colours.text or "").partition("prefers-color-scheme:dark")[2]
    assert root.get("width") == str(style.WIDTH)


def test_the_users_matplotlibrc_has_no_say() -> None:
    import matplotlib

    before = svg.inline(picture(), "name")
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        assert svg.inline(picture(), "name") == before


def corners(text: str) -> list[list[tuple[str, ...]]]:
    """Each path's points in the order of drawing, whichever way they are written."""
    paths = []
    for drawn in re.findall(r' d="([^"]+)"', text):
        points: list[tuple[str, ...]] = []
        for command, numbers in re.findall(r"([MLHVQCz])([^A-Za-z]*)", drawn):
            to = numbers.split()
            if command in "HV":
                x, y = points[-1][-2:]
                to = [to[0], y] if command == "H" else [x, to[0]]
            points.append(tuple(to) or points[0])
        paths.append(points)
    return paths


def test_short_paths_go_through_the_same_points(monkeypatch: pytest.MonkeyPatch) -> None:
    short = svg.inline(picture(), "name")
    monkeypatch.setattr(svg, "_path", lambda value: value)
    long = svg.inline(picture(), "name")
    assert "H" in "".join(re.findall(r' d="([^"]+)"', short))
    assert not re.search(r' d="[^"]*[HV]', long)
    assert corners(short) == corners(long)
    assert len(short) < len(long)
