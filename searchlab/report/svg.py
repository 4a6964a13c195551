"""How does a drawing get into a page, safely?

A drawing is written out again from what is known to be harmless: shapes, text, and references within itself. Anything
else (scripts, links, style sheets, pictures from elsewhere) is refused. Its ids get the name of the figure before them,
for a page with several drawings must not have one id twice.
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
# In the file of a drawing by itself: the colour of text is that of no page.
_INK = ":root{color:#1d2228;font-family:system-ui,sans-serif}@media (prefers-color-scheme:dark){:root{color:#e4e6e9}}"
_REFERENCE = re.compile(r"url\(\s*#([\w.-]+)\s*\)")
_HARMFUL = re.compile(r"url\s*\(|@|\\|expression|javascript:|/\*", re.IGNORECASE)
_FONT_FAMILY = re.compile(r"\s*font-family:[^;]*;?")
_FONT = re.compile(r"font:\s*([\d.]+px)[^;]*")
_BLANKS = re.compile(r"\s*\n\s*")


def tidy_svg(svg: str, *, ink: str) -> str:
    """Matplotlib's SVG without heading, metadata, style sheet and fonts; `ink` becomes the colour of the page's text.

    Groups lose their ids, to which nothing refers.
    """
    root = ElementTree.fromstring(svg[svg.index("<svg") :].replace(ink, "currentColor"))
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
        if _local(parent.tag) == "g":
            parent.attrib.pop("id", None)
        style = parent.get("style")
        if style is not None:
            parent.set("style", _FONT_FAMILY.sub("", _FONT.sub(r"font-size: \1", style)).strip())
    # What the style sheet said of everything; in a page it would be said of the whole page.
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    return _written(root)


def inline_svg(svg: str, *, name: str, alt: str) -> str:
    """The drawing for a page: checked, its ids made its own, and said in words."""
    root = _checked(svg, name)
    for element in root.iter():
        for attribute, value in list(element.attrib.items()):
            if attribute == "id":
                element.set(attribute, f"{_own(name)}{value}")
            elif attribute == "href":
                element.set(attribute, f"#{_own(name)}{value[1:]}")
            else:
                element.set(attribute, _REFERENCE.sub(rf"url(#{_own(name)}\1)", value))
    root.set("role", "img")
    root.set("aria-label", printable_line(alt))
    return _written(root)


def standalone_svg(svg: str, *, name: str, alt: str) -> str:
    """The drawing as a file of its own, for light and dark."""
    root = _checked(svg, name)
    root.set("role", "img")
    root.set("aria-label", printable_line(alt))
    style = ElementTree.Element(f"{{{SVG}}}style")
    style.text = _INK
    root.insert(0, style)
    return _written(root) + "\n"


def _own(name: str) -> str:
    """What stands before the ids of a figure; its name has no point, so that no two figures share one."""
    return f"svg.{name}."


def _checked(svg: str, name: str) -> ElementTree.Element:
    """The drawing's tree with plain attribute names, if there is nothing in it but what is known."""
    if "<!" in svg:
        raise _refused(name, "<!", "shapes and text alone")
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise SettingError(f"figure {name}: the drawing cannot be read ({error}), expected SVG") from None
    if root.tag != f"{{{SVG}}}svg":
        raise _refused(name, f"<{_local(root.tag)}>", "<svg> of SVG's namespace")
    for element in root.iter():
        tag = str(element.tag)
        if not tag.startswith(f"{{{SVG}}}") or _local(tag) not in ALLOWED_ELEMENTS:
            raise _refused(name, f"<{_local(tag)}>", "shapes and text alone")
        for attribute, value in list(element.attrib.items()):
            printable_line = attribute.removeprefix(f"{{{XLINK}}}")
            del element.attrib[attribute]
            element.set(printable_line, value)
            if printable_line not in ALLOWED_ATTRIBUTES:
                raise _refused(name, f"the attribute {_local(printable_line)}", "those of shapes and text")
            if printable_line == "href" and not value.startswith("#"):
                raise _refused(name, "a reference to elsewhere", "those within the drawing")
            # A label may hold any words.
            if printable_line not in ("aria-label", "href") and _HARMFUL.search(_REFERENCE.sub("", value)):
                raise _refused(name, f"a harmful {printable_line}", "colours, places and references within the drawing")
    return root


def _refused(name: str, found: str, expected: str) -> SettingError:
    return SettingError(f"figure {name}: the drawing has {found}, expected {expected}")


def _written(root: ElementTree.Element) -> str:
    """As text, in SVG's namespace without a prefix, as browsers want it within HTML."""
    for element in root.iter():
        element.tag = _local(str(element.tag))
        for attribute in [name for name in element.attrib if name.startswith("{")]:
            element.set(_local(attribute), element.attrib.pop(attribute))
        if element.text is not None and element.tag not in ("text", "tspan", "title", "desc", "style"):
            element.text = None
        element.tail = None if element.tag != "tspan" else element.tail
        if "d" in element.attrib:
            element.set("d", _BLANKS.sub(" ", element.attrib["d"]).strip())
    root.set("xmlns", SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
