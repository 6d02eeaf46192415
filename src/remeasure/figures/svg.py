"""matplotlib's SVG made small, and right in light and dark.

Text stays text in the page's own font. Each role's colour becomes a CSS variable. What only
describes the file (metadata, names of groups) goes, so the same figure always gives the same bytes.
"""

import io
import re
from collections import Counter
from xml.etree import ElementTree

from remeasure.figures import style
from remeasure.figures.picture import Picture

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"
FONT = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif'
DECIMALS = 2
SCALE = 1.1
"""CSS pixels on a page for a point of the figure: text of 11 points is then easily read."""

COMMAND = re.compile("([A-Za-z])([^A-Za-z]*)")
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
NO_ROTATION = re.compile(r"rotate\(-?0(?:\.0+)?\b[^)]*\)")

ROLES = {colour: role for role, colour in style.LIGHT.items()}
Element = ElementTree.Element


def inline(picture: Picture, name: str) -> str:
    """The picture for an HTML page that defines the variables; ids begin with `name`."""
    root = _slim(picture, name)
    root.set("width", NUMBER.sub(_short, str(SCALE * float(root.get("width", "0")))))
    del root.attrib["height"]
    root.set("role", "img")
    root.set("aria-label", picture.alt)
    return _text(root)


def standalone(text: str) -> str:
    """An inline picture as a file of its own, which follows the reader's colour scheme."""
    root = ElementTree.fromstring(text)
    root.set("height", root.get("viewBox", "").split()[3])
    root.set("width", root.get("viewBox", "").split()[2])
    title, colours = Element(f"{SVG}title"), Element(f"{SVG}style")
    title.text = root.get("aria-label")
    colours.text = (
        f"svg{{{variables(style.LIGHT)}background:var(--surface)}}"
        f"@media(prefers-color-scheme:dark){{svg{{{variables(style.DARK)}}}}}"
    )
    root[:0] = [title, colours]
    return _text(root) + "\n"


def variables(scheme: dict[str, str]) -> str:
    """A colour scheme as CSS custom properties."""
    return "".join(f"--{role}:{colour};" for role, colour in scheme.items())


def _slim(picture: Picture, name: str) -> Element:
    buffer = io.StringIO()
    with style.applied():
        picture.figure.savefig(
            buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    root = ElementTree.fromstring(buffer.getvalue())
    view = root.get("viewBox", "")
    body = [child for child in root if child.tag != f"{SVG}metadata" and not _is_style(child)]
    width, height = view.split()[2:]
    slim = Element(f"{SVG}svg", {"viewBox": view, "width": width, "height": height})
    slim.set("style", f"font-family:{FONT};fill:{_role('ink')};stroke-linejoin:round")
    slim.extend([new for child in body for new in _rewritten(child, name)])
    _share_styles(slim, name)
    return slim


def _share_styles(root: Element, name: str) -> None:
    """Styles that several elements have, written once; they hold within the figure `name` alone."""
    styled = [element for element in root.iter() if element is not root and element.get("style")]
    uses = Counter(element.attrib["style"] for element in styled)
    classes = {
        text: f"s{number}"
        for number, text in enumerate(text for text, times in uses.items() if times > 1)
    }
    for element in styled:
        if element.attrib["style"] in classes:
            element.set("class", classes[element.attrib.pop("style")])
    if classes:
        root.set("id", f"{name}-drawing")
        rules = Element(f"{SVG}style")
        rules.text = "".join(
            f"#{name}-drawing .{shared}{{{text}}}" for text, shared in classes.items()
        )
        root.insert(0, rules)


def _is_style(element: Element) -> bool:
    return element.tag == f"{SVG}defs" and any(child.tag == f"{SVG}style" for child in element)


def _rewritten(element: Element, name: str) -> list[Element]:
    """The element with short attributes; its children alone if it only groups them."""
    if callable(element.tag):  # a comment
        return []
    children = [new for child in element for new in _rewritten(child, name)]
    group = element.tag == f"{SVG}g"
    attributes = {
        key: value
        for key, value in (_attribute(*pair, name) for pair in element.items())
        if value and not (group and key == "id")
    }
    if group and not attributes:
        return children
    if element.tag == f"{SVG}path" and "d" not in attributes:
        return []
    if element.tag == f"{SVG}defs" and not children:
        return []
    new = Element(element.tag, attributes)
    new.extend(children)
    new.text = (element.text or "").strip() or None
    return [new]


def _attribute(key: str, value: str, name: str) -> tuple[str, str]:
    if key == "id":
        return key, f"{name}-{value}"
    if key == XLINK:
        return "href", f"#{name}-{value.removeprefix('#')}"
    if key == "style":
        return key, _style(value)
    if key == "transform":
        value = NO_ROTATION.sub("", value).strip()
    if REFERENCE.match(value):
        return key, REFERENCE.sub(rf"url(#{name}-\1)", value)
    value = " ".join(NUMBER.sub(_short, value).split())
    return key, _path(value) if key == "d" else value


def _path(value: str) -> str:
    """The same path, with the commands for level and upright lines where it has such."""
    written, at = [], ["", ""]
    for command, numbers in COMMAND.findall(value):
        to = numbers.split()
        if command == "L" and to[0] == at[0]:
            written.append(f"V{to[1]}")
        elif command == "L" and to[1] == at[1]:
            written.append(f"H{to[0]}")
        else:
            written.append(command + " ".join(to))
        at = to[-2:] or at
    return "".join(written)


def _style(text: str) -> str:
    kept = []
    for declaration in text.split("; "):
        key, _, value = declaration.partition(": ")
        is_default = (key, value) in {("stroke-linejoin", "miter"), ("stroke-linecap", "butt")}
        if key == "font-family" or is_default:
            continue
        kept.append(f"{key}:{COLOUR.sub(_variable, NUMBER.sub(_short, value))}")
    return ";".join(kept)


def _short(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _variable(colour: re.Match[str]) -> str:
    return _role(ROLES[colour[0]])


def _role(role: str) -> str:
    return f"var(--{role})"


def _text(root: Element) -> str:
    ElementTree.register_namespace("", SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode")
