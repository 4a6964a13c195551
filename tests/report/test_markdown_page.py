"""Markdown: tables, and harmless texts."""

import html
import re

from markdown_it import MarkdownIt

from searchlab.report.content import Paragraph, Report, Section
from searchlab.report.escaping import printable_line
from searchlab.report.markdown_page import render_markdown


def test_markdown_is_harmless_and_has_every_table(hostile_report):
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(render_markdown(hostile_report))
    text = {"h1", "h2", "p", "strong", "img", "sup", "br", "ul", "li"}
    assert set(re.findall(r"<([a-z0-9]+)", page)) == text | {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.count("<table>") == 4
    assert re.findall(r'<img src="([^"]*)"', page) == ["means.svg", "lines.svg"]
    assert "<a " not in page
    assert html.unescape(re.findall("<h1>(.*)</h1>", page)[0]) == printable_line(hostile_report.title)


def test_a_table_in_markdown(small_table):
    text = render_markdown(Report("T", "L", (Section("S", (Paragraph("P"), small_table)),), {"seed": "7"}))
    assert text == (
        "# T\n\nL\n\n## S\n\nP\n\n**Table 1.** Means.\n\n"
        "| system | AP | n |\n| --- | ---: | ---: |\n| BM25 | .2500 | 106 |\n"
        "| RSVM\\_IR | **.4497**<sup>†</sup> | 1,234 |\n| none | – | 0 |\n\n"
        "† better. Bold: the best of its column.\n\n## Facts\n\n- **seed:** 7\n"
    )
