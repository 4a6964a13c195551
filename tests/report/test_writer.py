"""Are the files of a report whole, harmless, and always the same?"""

import csv
import html
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from searchlab.errors import SettingError, WriteFailed
from searchlab.report.content import Figure, Paragraph, Report, Section, Table
from searchlab.report.escaping import escape_latex, printable_line
from searchlab.report.html_page import render_html
from searchlab.report.latex_page import render_latex
from searchlab.report.markdown_page import render_markdown
from searchlab.report.writer import table_to_csv, write_report

SMALL = Table(
    "main",
    "Means.",
    ("system", "AP", "n"),
    (("BM25", 0.25, 106), ("RSVM_IR", 0.4497, 1234), ("none", None, 0)),
    best=True,
    marks={(1, 1): "†"},
    note="† better.",
)


@pytest.fixture(scope="module")
def page(hostile_report) -> ElementTree.Element:
    """The page as a tree: it can be read as XML."""
    return ElementTree.fromstring(render_html(hostile_report).partition("\n")[2])


def local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def cells(section: Section) -> list[list[ElementTree.Element]]:
    root = ElementTree.fromstring(render_html(Report("", "", (section,))).partition("\n")[2])
    return [list(row) for row in root.iter("tr")]


def test_all_files_are_written(hostile_report, tmp_path):
    written = write_report(hostile_report, tmp_path / "new" / "folder")
    names = ["report.html", "report.md", "report.tex", "main.csv", "means.svg", "lines.svg", "wide.csv", "long.csv"]
    assert [path.name for path in written] == names
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(names)
    for name in ("means.svg", "lines.svg"):
        assert local(ElementTree.parse(tmp_path / "new" / "folder" / name).getroot()) == "svg"


def test_two_writes_are_the_same_to_the_byte(hostile_report, tmp_path):
    first, second = (write_report(hostile_report, tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    write_report(hostile_report, tmp_path / "a")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_drawing_that_is_refused_leaves_nothing_behind(tmp_path):
    bad = Figure("bad", "", "bad", '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    with pytest.raises(SettingError, match="figure bad"):
        write_report(Report("", "", (Section("", (SMALL, bad)),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WriteFailed, match="file: cannot be created"):
        write_report(Report("", "", ()), tmp_path / "file")


def test_an_empty_report_can_be_written(tmp_path):
    written = write_report(Report("", "", ()), tmp_path)
    assert [path.name for path in written] == ["report.html", "report.md", "report.tex"]


def test_the_page_has_only_what_we_put_there(page):
    drawing = {"svg", "g", "defs", "clipPath", "path", "rect", "use", "text"}
    text = {
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "b",
        "bdi",
        "code",
        "div",
        "span",
        "strong",
        "sup",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
    }
    tables = {"figure", "figcaption", "table", "thead", "tbody", "tr", "th", "td"}
    frame = {"html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section"}
    assert {local(element) for element in page.iter()} == frame | text | tables | drawing


def test_the_page_refers_to_nothing_outside_itself(page):
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) > 10
    references = 0
    for element in page.iter():
        assert not {"src", "srcset", "action", "data", "background"} & set(element.attrib)
        assert not [name for name in element.attrib if name.startswith("on")]
        pointed = [element.get("href", "#")[1:], *re.findall(r"url\(#([^)]*)\)", " ".join(element.attrib.values()))]
        pointed += element.get("aria-labelledby", "").split()
        assert element.get("href", "#").startswith("#")
        assert set(filter(None, pointed)) <= set(ids)
        references += len(list(filter(None, pointed)))
    assert references > 10
    style = next(page.iter("style")).text or ""
    assert "{" in style
    assert not re.search(r"url\(|@import|@font-face", style)
    (policy,) = [meta.get("content") for meta in page.iter("meta") if "http-equiv" in meta.attrib]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_hostile_words_are_shown_as_they_stand(page, hostile_report):
    words = printable_line(hostile_report.title)
    assert "<script>alert(1)</script>" in words
    assert "{{ 7*7 }}" in words
    for tag in ("title", "h1", "h2", "h3", "figcaption", "a", "p", "th", "dt", "dd", "bdi", "sup"):
        assert [element for element in page.iter(tag) if words in "".join(element.itertext())], tag
    assert {svg.get("aria-label") for svg in page.iter("{http://www.w3.org/2000/svg}svg")} == {words}


def test_the_page_can_be_heard(page):
    assert page.get("lang") == "en"
    levels = [int(local(element)[1]) for element in page.iter() if re.fullmatch("h[1-6]", local(element))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    headers = list(page.iter("th"))
    assert {header.get("scope") for header in headers} == {"row", "col"}
    drawings = list(page.iter("{http://www.w3.org/2000/svg}svg"))
    assert [drawing.get("role") for drawing in drawings] == ["img", "img"]
    scrolled = [element for element in page.iter("div") if "scroll" in element.get("class", "")]
    assert {element.get("tabindex") for element in scrolled} == {"0"}


def test_numbers_are_formatted_in_the_page():
    rows = cells(Section("", (SMALL,)))
    assert [["".join(cell.itertext()) for cell in row] for row in rows] == [
        ["system", "AP", "n"],
        ["BM25", ".2500", "106"],
        ["RSVM_IR", ".4497†", "1,234"],
        ["none", "–", "0"],
    ]
    assert [cell.find("strong") is not None for cell in rows[2]] == [False, True, False]
    assert [cell.get("class") for cell in rows[1]] == [None, "n", "n"]
    assert [cell.find("sup").get("style") for row in rows for cell in row[1:2]] == ["width: 1.5ch"] * 4


def test_a_whole_number_among_decimals_ends_at_the_point():
    rows = cells(Section("", (Table("t", "", ("x",), ((0.5,), (3,)), digits=2),)))
    assert ["".join(row[0].itertext()) for row in rows[1:]] == [".50", "3\u2008\u2007\u2007"]


def test_contents_lead_to_the_sections(page):
    (nav,) = page.iter("nav")
    targets = [link.get("href", "")[1:] for link in nav.iter("a")]
    headings = [heading.get("id") for heading in page.iter("h2")]
    assert targets == headings == ["section-1", "section-2", "facts"]


def test_markdown_is_harmless_and_has_every_table(hostile_report):
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(render_markdown(hostile_report))
    text = {"h1", "h2", "p", "strong", "img", "sup", "br", "ul", "li"}
    assert set(re.findall(r"<([a-z0-9]+)", page)) == text | {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.count("<table>") == 4
    assert re.findall(r'<img src="([^"]*)"', page) == ["means.svg", "lines.svg"]
    assert "<a " not in page
    assert html.unescape(re.findall("<h1>(.*)</h1>", page)[0]) == printable_line(hostile_report.title)


def test_a_table_in_markdown():
    text = render_markdown(Report("T", "L", (Section("S", (Paragraph("P"), SMALL)),), {"seed": "7"}))
    assert text == (
        "# T\n\nL\n\n## S\n\nP\n\n**Table 1.** Means.\n\n"
        "| system | AP | n |\n| --- | ---: | ---: |\n| BM25 | .2500 | 106 |\n"
        "| RSVM\\_IR | **.4497**<sup>†</sup> | 1,234 |\n| none | – | 0 |\n\n"
        "† better. Bold: the best of its column.\n\n## Facts\n\n- **seed:** 7\n"
    )


def test_a_table_in_latex():
    text = render_latex(Report("T", "L", (Section("S", (SMALL,)),)))
    _, begins, table = text.partition("\\begin{table}")
    assert begins + table.partition("\n\n\\end{document}")[0] == (
        "\\begin{table}[htbp]\n\\centering\n\\caption{Means.}\n\\label{tab:main}\n"
        "\\fitted{\\begin{tabular}{@{}lr<{\\hspace{0.5em}}r@{}}\n\\toprule\nsystem & AP & n \\\\\n\\midrule\n"
        "BM25 & .2500 & 106 \\\\\nRSVM\\_IR & \\textbf{.4497}\\rlap{\\textsuperscript{\\dag{}}} & 1,234 \\\\\n"
        "none & -- & 0 \\\\\n\\bottomrule\n\\end{tabular}}\n\n\\smallskip\n"
        "{\\footnotesize \\dag{} better. Bold: the best of its column.\\par}\n\\end{table}"
    )


def test_hostile_words_are_harmless_in_latex(hostile_report):
    text = render_latex(hostile_report)
    body = text.partition("\\begin{document}")[2]
    assert not re.search(r"\\(input|write18)|\\include", body)
    assert escape_latex(hostile_report.title) in body
    assert {sign for sign in body if not sign.isprintable()} == {"\n"}
    begun, ended = (sorted(re.findall(rf"\\{what}\{{(\w+)\}}", body)) for what in ("begin", "end"))
    assert sorted([*begun, "document"]) == ended
    assert {"tabular", "longtable", "table", "figure", "abstract", "description"} <= set(begun)
    # Groups close: what is escaped is no group.
    bare = re.sub(r"\\[{}\\]", "", body)
    assert bare.count("{") == bare.count("}")


def test_every_row_of_a_latex_table_has_its_cells(hostile_report):
    body = render_latex(hostile_report).partition("\\label{tab:main}")[2].partition("\\end{tabular}")[0]
    rows = [line for line in body.splitlines() if line.endswith("\\\\")]
    assert [len(re.split(r"(?<!\\)&", row)) for row in rows] == [4, 4, 4, 4]


@given(st.lists(st.tuples(st.floats() | st.none(), st.integers(), st.booleans()), max_size=5), st.integers(0, 12))
def test_csv_gives_the_same_numbers_back(rows, digits):
    table = Table("t", "", ("x", "n", "yes"), tuple(rows), digits=digits)
    heading, *lines = csv.reader(table_to_csv(table).splitlines())
    assert heading == ["x", "n", "yes"]
    assert [(repr(float(x)) if x else None, int(n), flag) for x, n, flag in lines] == [
        (None if x is None else repr(x), n, str(flag)) for x, n, flag in rows
    ]


def test_csv_of_hostile_words_has_its_rows_and_cells(hostile_report, tmp_path):
    write_report(hostile_report, tmp_path)
    with Path(tmp_path / "main.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [len(row) for row in rows] == [4, 4, 4, 4]
    assert rows[1] == [printable_line(hostile_report.title), "0.25", "", "106"]
