"""Markdown documents, one a file.

The docno is the path, as for plain text. Front matter (`---`, lines `key: value`, `---`) becomes fields. The title is
the `title` of the front matter, or else the first heading of the first level, which is then not part of the body. Marks
for headings, emphasis, links, lists, quotations and code are removed in the simple cases, and HTML tags too; blocks of
code are left unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from searchlab.corpus.formats.html import INLINE_ELEMENTS
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.sgml import decode_entities, without_comments
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import clean, on_one_line
from searchlab.records import Document

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
# A rule on the first line starts front matter only if another one follows within this many lines.
MAX_FRONT_MATTER_LINES = 200

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_RULE = re.compile(r"[ \t]*(?:[-*_|:][ \t]*+){3,}")
# The content of a footnote is text; the target of a link is not.
_LINK_TARGET = re.compile(r" {0,3}\[(?!\^)[^\[\]]+\]:[ \t]*\S.*")
_BULLETS = re.compile(r"(?:[ \t]*+(?:>|[-*+][ \t]))*+[ \t]*+(?:\[[ xX]\][ \t])?")
_KEY_AND_VALUE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:[ \t]+([^\s|>].*)")

_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`]++)\1(?!`)")
_HIDDEN_CODE = re.compile("\0([0-9]+)\0")
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*|[^<>\s@/]+@[^<>\s@]+)>")
_TAG = re.compile(r"</?([A-Za-z][^\s<>/]*+)[^<>]*+>")
_LINK = re.compile(r"!?\[([^\[\]]*+)\](?:\((?:[^()]++|\([^()]*+\))*+\)|[ ]?\[[^\[\]]*+\])")
_MARKS = (
    re.compile(r"(?<![\\*])(\*{1,3})(?=[^\s*])([^*]*[^\s*\\])\1(?!\*)"),
    re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])([^_]*[^\s_\\])\1(?!\w)"),
    re.compile(r"(~~)([^~]+)~~"),
)
# Nested marks: a picture in a link, an italic word in a bold phrase.
MAX_NESTED_MARKS = 2
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def is_markdown(opened: OpenedFile) -> bool:
    """Whether the suffix is that of Markdown and there is no NUL byte."""
    return opened.suffix in MARKDOWN_SUFFIXES and "\0" not in opened.head


def read_markdown_document(opened: OpenedFile) -> Iterator[Document]:
    """The document of the file; none if the file is blank."""
    fields, lines = _split_front_matter(opened.whole())
    page = _Page(lines, on_one_line(fields.pop("title", "")))
    if page.title or page.body:
        yield Document(path_docno(opened.file.relative), page.title, page.body, fields, opened.name)


def _split_front_matter(lines: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    if not lines or lines[0].rstrip() != "---":
        return {}, lines
    ends = (number for number, line in enumerate(lines[1:MAX_FRONT_MATTER_LINES], 1) if line.rstrip() in ("---", "..."))
    end = next(ends, 0)
    pairs = (_KEY_AND_VALUE.fullmatch(line) for line in lines[1:end])
    return {pair[1]: _unquoted(pair[2].strip()) for pair in pairs if pair}, lines[end + 1 :] if end else lines


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value


class _Page:
    """The title and the text of a page, collected line by line."""

    def __init__(self, lines: Sequence[str], title: str) -> None:
        self.title = title
        self._written: list[str] = []
        self._paragraph: list[str] = []
        self._read(lines)

    @property
    def body(self) -> str:
        return clean("\n".join(self._written)).strip("\n")

    def _read(self, lines: Sequence[str]) -> None:
        """Read blocks of code and the prose between them."""
        prose: list[str] = []
        fence = ""
        for line in lines:
            mark = _FENCE.match(line)
            if fence:
                if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                    fence = ""
                else:
                    self._written.append(line)
            elif mark:
                self._read_prose(prose)
                prose, fence = [], mark[1]
            else:
                prose.append(line)
        self._read_prose(prose)

    def _read_prose(self, lines: Sequence[str]) -> None:
        for line in without_comments("\n".join(lines)).split("\n"):
            if heading := _HEADING.fullmatch(line):
                self._end_paragraph()
                self._paragraph = [_without_closing_marks(heading[2] or "")]
                self._end_heading(level=len(heading[1]))
            elif self._paragraph and (underline := _UNDERLINE.fullmatch(line)):
                self._end_heading(level=1 if underline[1].startswith("=") else 2)
            elif not line.strip():
                self._end_paragraph()
                self._written.append("")
            elif not _RULE.fullmatch(line) and not _LINK_TARGET.fullmatch(line):
                self._paragraph.append(line)
        self._end_paragraph()

    def _end_paragraph(self) -> None:
        if self._paragraph:
            self._written.append(_strip_markup(self._paragraph))
            self._paragraph = []

    def _end_heading(self, level: int) -> None:
        text = on_one_line(_strip_markup(self._paragraph))
        if level == 1 and not self.title:
            self.title = text
        else:
            self._written.append(text)
        self._paragraph = []


def _without_closing_marks(heading: str) -> str:
    """`heading` without the closing `#` marks; the # of "About C#" is kept."""
    text = heading.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _strip_markup(paragraph: Sequence[str]) -> str:
    """The lines of a paragraph without their markup."""
    codes: list[str] = []

    def hide(code: re.Match[str]) -> str:
        codes.append(code[2])
        return f"\0{len(codes) - 1}\0"

    text = "\n".join(_BULLETS.sub("", line, count=1) for line in paragraph)
    # Code is replaced by its number between NUL characters, which no text has, and put back at the end.
    text = _TAG.sub(_blank_for_tag, _AUTOLINK.sub(r"\1", _CODE.sub(hide, text)))
    for _ in range(MAX_NESTED_MARKS):
        text = _LINK.sub(r"\1", text)
        for marks in _MARKS:
            text = marks.sub(r"\2", text)
    text = decode_entities(_ESCAPE.sub(r"\1", text))
    return _HIDDEN_CODE.sub(lambda hidden: codes[int(hidden[1])], text)


def _blank_for_tag(tag: re.Match[str]) -> str:
    return "" if tag[1].lower() in INLINE_ELEMENTS else " "
