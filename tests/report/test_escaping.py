"""Escaping: any text remains plain text in Markdown, LaTeX and spreadsheets."""

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from searchlab.report.escaping import escape_latex, escape_markdown, printable_line

TEXTS = st.text(st.sampled_from("ab1 \\`*_{}[]()<>#+-.!|~&$%^=:/\"'@\n\t\r\x00中é–\u202e;wh"), max_size=40)

# The replacements of special characters by `escape_latex`; what remains must have no special meaning.
LATEX_SIGN = re.compile(
    r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textquotedbl|textasciigrave|ldots)\{\}"
    r"|\\[{}$&#%_]|\{[][*',-]\}|\\unicode\{[0-9A-F]{4,6}\}|\$\\?[a-z-]+\$"
)


@given(TEXTS | st.text())
@example("1. one")
@example("2) two")
@example("- item")
@example("+")
@example("---")
@example("===")
@example("# no heading")
@example("    code")
@example("~~~")
@example("> quote")
@example("&lt;")
@example("&#35;")
@example("[a]: http://e.example")
@example("a|b")
def test_any_text_is_one_literal_paragraph_in_markdown(text):
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(escape_markdown(text))
    expected = f"<p>{html.escape(printable_line(text))}</p>\n" if printable_line(text) else ""
    assert html.unescape(page) == html.unescape(expected)
    assert len(re.findall("<[a-z]", page)) == bool(expected)


@given(TEXTS)
def test_any_text_is_one_table_cell_in_markdown(text):
    page = (
        MarkdownIt("commonmark").enable("table").render(f"| a | b |\n| --- | --- |\n| {escape_markdown(text)} | x |\n")
    )
    cells = re.findall("<td>(.*?)</td>", page, flags=re.DOTALL)
    assert [html.unescape(cell) for cell in cells] == [printable_line(text), "x"]


def test_a_url_does_not_become_a_link_on_github():
    assert escape_markdown("see https://e.example and www.e.example") == "see https\\://e.example and www\\.e.example"


def test_harmless_characters_are_not_escaped_in_markdown():
    assert escape_markdown("12.5 % of nDCG@10 (p = .05), T-cell; -.5") == "12.5 % of nDCG@10 (p = .05), T-cell; -.5"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("100% of $5 & a_b #1", r"100\% of \$5 \& a\_b \#1"),
        ("a~b^c", r"a\textasciitilde{}b\textasciicircum{}c"),
        ("<|>", r"\textless{}\textbar{}\textgreater{}"),
        ("[1] * x", "{[}1{]} {*} x"),
        ('"a" `b`', r"\textquotedbl{}a\textquotedbl{} \textasciigrave{}b\textasciigrave{}"),
        ("a--b, c,,d it's ''", "a{-}{-}b, c{,}{,}d it's {'}{'}"),
        ("T-cell", "T-cell"),
        ("−.5 ± 2 ≤ λ", r"$-$.5 $\pm$ 2 $\leq$ $\lambda$"),
        ("ΔAP µ μ ο", r"$\Delta$AP $\mu$ $\mu$ $o$"),
        ("α ω ς", r"$\alpha$ $\omega$ $\varsigma$"),
        ("– — … “a” †", r"-- --- \ldots{} ``a'' \dag{}"),
        ("é ß Ł", "é ß Ł"),
        ("中 😀", r"\unicode{4E2D} \unicode{1F600}"),
        ("a\n\n\\par b", r"a \textbackslash{}par b"),
    ],
)
def test_special_characters_in_latex(text, written):
    assert escape_latex(text) == written


@given(TEXTS)
def test_no_special_character_remains_in_latex(text):
    left = LATEX_SIGN.sub("", escape_latex(text).replace("--", ""))
    assert not set(left) & set('\\{}$&#%_^~<>|"`[]*\n')


def test_a_printable_line_has_no_control_characters_and_direction_marks():
    assert printable_line("a\x00b\x1b[31m\r\n\tc \u202egnp\u2066x\ufffe") == "a b [31m c gnpx"
