"""Parsing of TREC's loose SGML.

Real files have stray `<` and `&` and lack end tags, so this is not an SGML parser. Only what looks like a tag is one:
"p < 0.05" and "AT&T" are text. The patterns never look past the next angle bracket and never backtrack, so that hostile
text takes no more time than other text.
"""

from __future__ import annotations

import html
import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import RecordError

TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][^\s<>/]*+)(?P<attributes>[^<>]*+)>")
_MARKUP = re.compile(r"<[?!/A-Za-z][^<>]*+>")
_OPEN_MARKUP = re.compile(r"<[?!/A-Za-z][^<>]*+")
_COMMENT = re.compile(r"<!--[^<>]*-->")
# Instead of a bracket: the line was too long, and its end is not known.
_CUT = "…"


def begins_with(tag: str) -> Callable[[OpenedFile], bool]:
    """A recogniser: whether the head has nothing but markup before its first `tag`."""
    start = rf"<{tag}[\s>]"
    pattern = re.compile(rf"(?>\s+|(?!{start})<[?!A-Za-z][^<>]*+>)*{start}", re.IGNORECASE)
    return lambda opened: pattern.match(opened.head) is not None


def read_records(opened: OpenedFile, tag: str) -> Iterator[tuple[str, str]]:
    """The location and the content of every <tag> … </tag> in the file."""
    outside = _Outside()
    strayed = False
    began = ""
    content: list[str] = []
    length = 0
    for number, text, bracket in _pieces(opened, tag):
        length += len(text)
        if bracket == _CUT or (began and length > opened.reading.max_record_length):
            opened.reading.reject(opened.reading.too_long(began or opened.location(number)))
            began, content, strayed = "", [], True
        elif began:
            content.append(text)
        elif (stray := outside.words_in(text)) and not strayed:
            opened.reading.reject(RecordError(opened.location(number), f"expected <{tag}>, found {excerpt(stray)}"))
            # Text between two records is one mistake, however many lines it has.
            strayed = True
        if bracket == "<":
            if began:
                error = RecordError(began, f"expected </{tag}>, found another <{tag}> at line {number}")
                opened.reading.reject(error)
            began, content, length, strayed = opened.location(number), [], 0, False
            outside = _Outside()  # markup that is never closed would hide what strays after this record
        elif began and bracket == "</":
            yield began, _COMMENT.sub(" ", "".join(content))
            began = ""
        elif bracket == "</" and not strayed:
            opened.reading.reject(RecordError(opened.location(number), f"expected <{tag}>, found </{tag}>"))
    if began:
        opened.reading.reject(RecordError(began, f"expected </{tag}>, found the end of the file"))


def _pieces(opened: OpenedFile, tag: str) -> Iterator[tuple[int, str, str]]:
    """The text up to each <tag>, </tag> or line end, with its line number and the bracket that ended it."""
    boundary = re.compile(rf"(?P<bracket></?){tag}(?:\s[^<>]*+)?>", re.IGNORECASE)
    for number, line in opened.lines():
        if len(line) > opened.reading.max_record_length:
            yield number, "", _CUT
            continue
        position = 0
        for match in boundary.finditer(line):
            yield number, line[position : match.start()], match["bracket"]
            position = match.end()
        yield number, line[position:] + "\n", ""


class _Outside:
    """The markup between records: an XML declaration, comments and enclosing tags, but no text."""

    def __init__(self) -> None:
        self._in_markup = False

    def words_in(self, text: str) -> str:
        """The text that is not markup."""
        if self._in_markup:
            _, closed, text = text.partition(">")
            self._in_markup = not closed
        left = _MARKUP.sub("", text).strip()
        if _OPEN_MARKUP.fullmatch(left):
            self._in_markup = True
            return ""
        return left


@dataclass(frozen=True, slots=True)
class Element:
    """A start tag and the nearest end tag of its name, as positions in `content`."""

    name: str
    content: str
    start: int
    inner_start: int
    inner_end: int
    end: int

    @property
    def inner(self) -> str:
        """The content between the tags, with the tags in it."""
        return self.content[self.inner_start : self.inner_end]

    @property
    def length(self) -> int:
        """The length of the content between the tags."""
        return self.inner_end - self.inner_start


def find_elements(content: str, wanted: Callable[[Element], bool]) -> Iterator[Element]:
    """The wanted elements in order, none inside another; unwanted elements are searched for wanted ones."""
    # Arrays, and no list of all tags: a record of megabytes may have nothing but tags.
    ends: defaultdict[str, tuple[array[int], array[int]]] = defaultdict(lambda: (array("q"), array("q")))
    for tag in TAG.finditer(content):
        if tag["end"]:
            inner_ends, after = ends[tag["name"].upper()]
            inner_ends.append(tag.start())
            after.append(tag.end())
    position = 0
    for tag in TAG.finditer(content):
        if tag.start() < position or tag["end"] or tag["attributes"].endswith("/"):
            continue
        name = tag["name"].upper()
        if name not in ends:
            continue
        inner_ends, after = ends[name]
        nearest = bisect_left(inner_ends, tag.end())
        if nearest == len(inner_ends):
            continue
        inner_end, end = inner_ends[nearest], after[nearest]
        element = Element(name, content, tag.start(), tag.end(), inner_end, end)
        if wanted(element):
            yield element
            position = element.end


def plain_text(content: str) -> str:
    """`content` without tags, its entities decoded, on one line."""
    return on_one_line(decode_entities(TAG.sub(" ", content)))


def decode_entities(text: str) -> str:
    """`text` with characters for `&amp;`, `&#233;` and the like."""
    # int() raises ValueError for a character number of thousands of digits: such text is left as it is.
    with suppress(ValueError):
        return html.unescape(text)
    return text


def without_comments(text: str) -> str:
    """`text` with a space for every `<!-- … -->`; one that is not closed is kept."""
    pieces = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        pieces += [text[position:start], " "]
        position = end + 3
    return "".join([*pieces, text[position:]])
