"""Embedding of SVG: only harmless drawings are accepted."""

from xml.etree import ElementTree

import pytest

from searchlab.errors import SettingError
from searchlab.report.svg import inline_svg, standalone_svg, tidy_svg

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
MATPLOTLIB = f"""<?xml version="1.0"?><!DOCTYPE svg>
{HEAD}<metadata><a/></metadata><defs><style>*{{stroke-linecap: butt}}</style></defs>
<g id="axes_1"><path id="p" d="M 0 0
L 1 1
" style="fill: none; stroke: #010203"/><use xlink:href="#p"/></g>
<text style="font: 10px 'DejaVu Sans'; text-anchor: middle">a &lt; b</text>
<text style="font-size: 9px; font-family: 'A', serif; fill: #010203">c</text></svg>"""


def test_matplotlibs_drawing_is_tidied():
    assert tidy_svg(MATPLOTLIB, ink="#010203") == (
        '<svg stroke-linejoin="round" stroke-linecap="butt" xmlns="http://www.w3.org/2000/svg"><defs />'
        '<g><path id="p" d="M 0 0 L 1 1" style="fill: none; stroke: currentColor" /><use href="#p" /></g>'
        '<text style="font-size: 10px; text-anchor: middle">a &lt; b</text>'
        '<text style="font-size: 9px; fill: currentColor">c</text></svg>'
    )


def test_ids_and_references_are_prefixed_with_the_name_of_the_figure():
    drawing = f'{HEAD}<path id="p" clip-path="url(#c)"/><use xlink:href="#p" style="fill: url( #h )"/></svg>'
    assert inline_svg(drawing, name="gains", alt='A "b" <c>') == (
        '<svg role="img" aria-label="A &quot;b&quot; &lt;c&gt;" xmlns="http://www.w3.org/2000/svg">'
        '<path id="svg.gains.p" clip-path="url(#svg.gains.c)" />'
        '<use href="#svg.gains.p" style="fill: url(#svg.gains.h)" /></svg>'
    )


def test_a_standalone_drawing_has_colours_for_light_and_dark():
    written = standalone_svg(f'{HEAD}<path d="M0 0"/></svg>', name="a", alt="An arrow")
    root = ElementTree.fromstring(written)
    assert root.get("aria-label") == "An arrow"
    assert "prefers-color-scheme:dark" in (root[0].text or "")


@pytest.mark.parametrize(
    "part",
    [
        "<script>alert(1)</script>",
        "<foreignObject/>",
        "<image href='http://e.example/a.png'/>",
        "<a href='#x'/>",
        "<style>*{}</style>",
        "<animate/>",
        "<path onclick='alert(1)'/>",
        "<use href='http://e.example/a.svg#x'/>",
        "<use xlink:href='data:image/svg+xml,x'/>",
        "<path style='fill: url(http://e.example/a)'/>",
        "<path style='fill: URL (//e.example/a)'/>",
        "<path style='fill: url(#a) url(//e.example)'/>",
        "<path style='fill: u\\72l(//e.example)'/>",
        "<path fill='url(//e.example/a#b)'/>",
        "<p xmlns='http://www.w3.org/1999/xhtml'/>",
        "<!-- comment -->",
        "<![CDATA[x]]>",
    ],
)
@pytest.mark.parametrize("setting", [inline_svg, standalone_svg])
def test_a_harmful_drawing_is_an_error(part, setting):
    assert setting(f"{HEAD}<g/></svg>", name="bad", alt="b")
    with pytest.raises(SettingError, match="figure bad: the drawing has"):
        setting(f"{HEAD}<g>{part}</g></svg>", name="bad", alt="b")


@pytest.mark.parametrize("drawing", ["", "no drawing", "<svg>", f"{HEAD}<g></svg>"])
def test_invalid_xml_is_an_error(drawing):
    with pytest.raises(SettingError, match="figure bad: the drawing cannot be read"):
        inline_svg(drawing, name="bad", alt="b")


def test_another_root_element_is_an_error():
    with pytest.raises(SettingError, match="<html>, expected <svg>"):
        inline_svg("<html/>", name="bad", alt="b")


def test_entities_are_not_expanded():
    with pytest.raises(SettingError, match="the drawing has <!"):
        inline_svg(f'<!DOCTYPE svg [<!ENTITY a "b">]>{HEAD}</svg>', name="bad", alt="b")
