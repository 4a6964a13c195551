"""Safe embedding of SVG drawings in a page.

A drawing may contain only known elements: shapes, text, and references within itself. Anything else (scripts, links,
style sheets, external images) is an error. Ids are prefixed with the name of the figure, because a page with several
drawings must not contain an id twice.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from searchlab.errors import SettingError
from searchlab.report.escaping import printable_line

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ALLOWED_ELEMENTS = frozenset(
    re.findall(
        r"\S+",
        """
        svg g defs clipPath path rect circle ellipse line polyline polygon text tspan title desc use
        """,
    )
)
ALLOWED_ATTRIBUTES = frozenset(
    re.findall(
        r"\S+",
        """
        id d x y x1 x2 y1 y2 cx cy r rx ry points width height viewBox version transform style href
        clip-path clip-rule fill fill-opacity fill-rule opacity stroke stroke-dasharray stroke-dashoffset
        stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width font-family font-size
        font-style font-weight text-anchor dominant-baseline dx dy role aria-label preserveAspectRatio
        """,
    )
)
# The style of a drawing in a file of its own, which has no page to take the colour of text from.
_STANDALONE_STYLE = (
    ":root{color:#1d2228;font-family:system-ui,sans-serif}@media (prefers-color-scheme:dark){:root{color:#e4e6e9}}"
)
_REFERENCE = re.compile(r"url\(\s*#([\w.-]+)\s*\)")
_HARMFUL = re.compile(r"url\s*\(|@|\\|expression|javascript:|/\*", re.IGNORECASE)
_FONT_FAMILY = re.compile(r"\s*font-family:[^;]*;?")
_FONT = re.compile(r"font:\s*([\d.]+px)[^;]*")
_BLANKS = re.compile(r"\s*\n\s*")


def tidy_svg(svg: str, *, ink: str) -> str:
    """Matplotlib's SVG without header, metadata, style sheet and fonts; `ink` becomes the colour of the page's text.

    The ids of groups, which nothing refers to, are removed.
    """
    root = ElementTree.fromstring(svg[svg.index("<svg") :].replace(ink, "currentColor"))
    for parent in list(root.iter()):
        for child in list(parent):
            if _local_name(child.tag) in ("metadata", "style"):
                parent.remove(child)
        if _local_name(parent.tag) == "g":
            parent.attrib.pop("id", None)
        style = parent.get("style")
        if style is not None:
            parent.set("style", _FONT_FAMILY.sub("", _FONT.sub(r"font-size: \1", style)).strip())
    # From the style sheet, which in a page would apply to the whole page.
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    return _serialise(root)


def inline_svg(svg: str, *, name: str, alt: str) -> str:
    """The drawing for a page: checked, with prefixed ids and a description."""
    root = _parse_checked(svg, name)
    for element in root.iter():
        for attribute, value in list(element.attrib.items()):
            if attribute == "id":
                element.set(attribute, f"{_id_prefix(name)}{value}")
            elif attribute == "href":
                element.set(attribute, f"#{_id_prefix(name)}{value[1:]}")
            else:
                element.set(attribute, _REFERENCE.sub(rf"url(#{_id_prefix(name)}\1)", value))
    _describe(root, alt)
    return _serialise(root)


def standalone_svg(svg: str, *, name: str, alt: str) -> str:
    """The drawing as a separate file, for light and dark backgrounds."""
    root = _parse_checked(svg, name)
    _describe(root, alt)
    style = ElementTree.Element(f"{{{SVG}}}style")
    style.text = _STANDALONE_STYLE
    root.insert(0, style)
    return _serialise(root) + "\n"


def _describe(root: ElementTree.Element, alt: str) -> None:
    """Make the drawing an image with a description for screen readers."""
    root.set("role", "img")
    root.set("aria-label", printable_line(alt))


def _id_prefix(name: str) -> str:
    """The prefix of the ids of a figure; names contain no point, so that prefixes of two figures differ."""
    return f"svg.{name}."


def _parse_checked(svg: str, name: str) -> ElementTree.Element:
    """The tree of a drawing with plain attribute names; an error if it has anything but known elements."""
    if "<!" in svg:
        raise _unsafe(name, "<!", "only shapes and text")
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise SettingError(f"figure {name}: the drawing cannot be read ({error}), expected SVG") from None
    if root.tag != f"{{{SVG}}}svg":
        raise _unsafe(name, f"<{_local_name(root.tag)}>", "<svg> in SVG's namespace")
    for element in root.iter():
        tag = str(element.tag)
        if not tag.startswith(f"{{{SVG}}}") or _local_name(tag) not in ALLOWED_ELEMENTS:
            raise _unsafe(name, f"<{_local_name(tag)}>", "only shapes and text")
        for attribute, value in list(element.attrib.items()):
            plain_name = attribute.removeprefix(f"{{{XLINK}}}")
            del element.attrib[attribute]
            element.set(plain_name, value)
            if plain_name not in ALLOWED_ATTRIBUTES:
                raise _unsafe(name, f"the attribute {_local_name(plain_name)}", "attributes of shapes and text")
            if plain_name == "href" and not value.startswith("#"):
                raise _unsafe(name, "an external reference", "references within the drawing")
            # A label may contain any text.
            if plain_name not in ("aria-label", "href") and _HARMFUL.search(_REFERENCE.sub("", value)):
                raise _unsafe(name, f"a harmful {plain_name}", "colours, positions and internal references")
    return root


def _unsafe(name: str, found: str, expected: str) -> SettingError:
    return SettingError(f"figure {name}: the drawing has {found}, expected {expected}")


def _serialise(root: ElementTree.Element) -> str:
    """The SVG text, with SVG's namespace as the default, which HTML requires."""
    for element in root.iter():
        element.tag = _local_name(str(element.tag))
        for attribute in [name for name in element.attrib if name.startswith("{")]:
            element.set(_local_name(attribute), element.attrib.pop(attribute))
        if element.text is not None and element.tag not in ("text", "tspan", "title", "desc", "style"):
            element.text = None
        element.tail = None if element.tag != "tspan" else element.tail
        if "d" in element.attrib:
            element.set("d", _BLANKS.sub(" ", element.attrib["d"]).strip())
    root.set("xmlns", SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2]
