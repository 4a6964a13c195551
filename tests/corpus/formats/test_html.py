import pytest

from searchlab.corpus import read_documents
from searchlab.errors import SourceError
from searchlab.records import Document

PAGE = """<!DOCTYPE html>
<!-- <p>left out</p> -->
<HTML lang="en"><head><meta charset="utf-8">stray<title>Wings
&amp; flow</title><style>p > a {}</style></head>
<body onload="if (a > b) go()"><script>if (a<b) document.write("</p>")</script>
<h1>A <em>wi</em>ng</h1><p>Text with a <a title='x > y' href=z>li</a>nk<br>and
more.<ul><li>one<li>two</ul><table><tr><td>1</td><td>2</td></tr></table>
<noscript>left out</noscript><template><p>left out</p></template>
caf&eacute; p < 0.05 &lt;b&gt;</body></HTML>
"""


def test_the_title_and_what_a_reader_sees_make_the_document(write):
    path = write("site/a b.html", PAGE)
    [document] = read_documents(path.parent)
    assert document == Document(
        "a_b.html",
        "Wings & flow",
        "A wing\nText with a link\nand more.\none\ntwo\n1\n2\ncafé p < 0.05 <b>",
    )
    assert document.location == str(path)


@pytest.mark.parametrize(
    ("content", "title", "body"),
    [
        ("<h1>One <b>t</b>wo</h1>text<h1>Three</h1>", "One two", "text\nThree"),
        ("<title> </title><h1>One</h1>text", "One", "text"),
        ("<h1>not closed<p>text", "", "not closed\ntext"),
        ("</h1>text<h1>One</h1>", "One", "text"),
        ("<title>not closed<p>text", "", "not closed\ntext"),
        ("<head><title>One</title><p>text", "One", "text"),
        ("<title>One</title><title>Two</title>text", "One", "text"),
        ("a<noscript>b<template>c", "", "a\nb\nc"),
        ("text<script>left out", "", "text"),
        ("text<!-- not closed", "", "text<!-- not closed"),
        ("a<p b", "", "a<p b"),
        ("a</>b<>c</ p>d", "", "a</>b<>c</ p>d"),
        ("a<![CDATA[b]]><?php c ?>d", "", "a\nd"),
        ('<a title="<b>">c</a>', "", '<a title="">c'),
        ("<titlex>a</titlex>", "", "a"),
        ("&#0;&#xd800;&nosuch;a&nbsp;b", "", "\ufffd\ufffd&nosuch;a b"),
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(write, content, title, body):
    [document] = read_documents(write("a.htm", content))
    assert (document.title, document.body) == (title, body)


def test_a_page_that_shows_nothing_holds_no_document(write, message):
    path = write("a.html", "<html><head></head><body><p></body></html>")
    assert message(SourceError, read_documents, path) == f"{path}: holds no documents"
