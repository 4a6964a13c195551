import pytest

from searchlab.corpus import read_documents
from searchlab.errors import SourceError
from searchlab.records import Document

PAGE = """---
title: "Of wings: a study"
author: J. Doe
tags: [a, b]
summary: |
  not simple
list:
  - x
---
# Heading

Text with **bold *and italic* words**, a [link](http://x/(y)) to
[another
one][1], `code_with *stars*` and snake_case.

[1]: http://example.org
<!-- left
out --> <div>Caf&eacute;</div> H<sub>2</sub>O
"""


def test_front_matter_goes_to_the_fields_and_its_title_is_the_title(write):
    path = write("notes/a b.md", PAGE)
    [document] = read_documents(path.parent)
    assert (document.docno, document.title, document.location) == ("a_b.md", "Of wings: a study", str(path))
    assert document.fields == {"author": "J. Doe", "tags": "[a, b]"}
    words = "Heading Text with bold and italic words, a link to another one, code_with *stars* and snake_case. Café H2O"
    assert " ".join(document.body.split()) == words


@pytest.mark.parametrize(
    ("content", "title", "body"),
    [
        ("intro\n# The *first* one #\ntext\n# Second", "The first one", "intro\ntext\nSecond"),
        ("## Level two\n# About C#", "About C#", "Level two"),
        ("A title\nof two lines\n=====\ntext", "A title of two lines", "text"),
        ("Second level\n---\ntext", "", "Second level\ntext"),
        ("#hashtag\n#", "", "#hashtag"),
        ("---\nnot: closed", "", "not: closed"),
        ("---\n---\ntext", "", "text"),
        ("```\n# no heading\n```\n# One", "One", "# no heading"),
        ("~~~~ python\n~~~\n*a*\n~~~~\n*b*", "", "~~~\n*a*\nb"),
        ("``` not closed\n*a*", "", "*a*"),
    ],
)
def test_the_first_heading_of_the_first_level_is_the_title_and_no_part_of_the_body(write, content, title, body):
    [document] = read_documents(write("a.md", content))
    assert (document.title, document.body) == (title, body)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("[![alt](a.png)](b.html)", "alt"),
        ('![picture](a.png "title")', "picture"),
        ("**a** *b* ***c*** __d__ _e_ ~~f~~", "a b c d e f"),
        ("2 * 3 * 4 and 5*6 and a_b_c", "2 * 3 * 4 and 5*6 and a_b_c"),
        (r"\*not emphasis\* 1\. \\", "*not emphasis* 1. \\"),
        ("<http://x.org/a> <me@x.org> <br/>", "http://x.org/a me@x.org"),
        ("> quoted\n> - item\n- [x] done", "quoted\nitem\ndone"),
        ("1986. A year", "1986. A year"),
        ("| a | b |\n|---|:-:|\n| c | d |", "| a | b |\n| c | d |"),
        ("a\n\n* * *\n\nb", "a\n\n\nb"),
        ("[^1]: a note", "[^1]: a note"),
        ("a < b > c &lt; &#9999999999;", "a < b > c < \ufffd"),
        ("``a`` and `b", "a and `b"),
        ("0 `1` 2", "0 1 2"),
        ("not [a link] (here)", "not [a link] (here)"),
    ],
)
def test_marks_are_taken_off_where_that_is_simple(write, written, text):
    [document] = read_documents(write("a.md", written))
    assert document.body.strip() == text


def test_a_blank_file_holds_no_document(write, message):
    path = write("a.md", "\n---\n\n")
    assert message(SourceError, read_documents, path) == f"{path}: holds no documents"


def test_a_title_without_a_text_is_a_document(write):
    assert list(read_documents(write("a.md", "# One"))) == [Document("a.md", "One")]
