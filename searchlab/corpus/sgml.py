"""How is the loose SGML of TREC taken apart?

Not by a parser: real files leave `<`, `&` and end tags where they please. Only what looks like a tag is
one, so "p < 0.05" and "AT&T" are text. The patterns never look past the next angle bracket, nor
backtrack, so that hostile text costs no more time than other text.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from searchlab.corpus.characters import excerpt, on_one_line
from searchlab.corpus.files import OpenedFile
from searchlab.errors import RecordError

TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][^\s<>/]*+)(?P<attributes>[^<>]*+)>")
_MARKUP = re.compile(r"<[?!/A-Za-z][^<>]*+>")
_OPEN_MARKUP = re.compile(r"<[?!/A-Za-z][^<>]*+")
_COMMENT = re.compile(r"<!--[^<>]*-->")


def begins_with(tag: str) -> Callable[[OpenedFile], bool]:
    """A recogniser: the head holds nothing but markup before its first `tag`."""
    start = rf"<{tag}[\s>]"
    pattern = re.compile(rf"(?>\s+|(?!{start})<[?!A-Za-z][^<>]*+>)*{start}", re.IGNORECASE)
    return lambda opened: pattern.match(opened.head) is not None


def read_records(opened: OpenedFile, tag: str) -> Iterator[tuple[str, str]]:
    """The place and the content of every <tag> … </tag> in the file."""
    outside = _Outside(tag)
    began = ""
    content: list[str] = []
    for number, text, bracket in _pieces(opened, tag):
        if began:
            content.append(text)
        else:
            outside.check(text, opened.place(number))
        if bracket == "<":
            if began:
                raise RecordError(began, f"expected </{tag}>, found another <{tag}> at line {number}")
            began, content = opened.place(number), []
        elif bracket == "</":
            if not began:
                raise RecordError(opened.place(number), f"expected <{tag}>, found </{tag}>")
            yield began, _COMMENT.sub(" ", "".join(content))
            began = ""
    if began:
        raise RecordError(began, f"expected </{tag}>, found the end of the file")


def _pieces(opened: OpenedFile, tag: str) -> Iterator[tuple[int, str, str]]:
    """The text up to each <tag>, </tag> or line end, with the bracket that ended it."""
    boundary = re.compile(rf"(?P<bracket></?){tag}(?:\s[^<>]*+)?>", re.IGNORECASE)
    for number, line in opened.lines():
        position = 0
        for match in boundary.finditer(line):
            yield number, line[position : match.start()], match["bracket"]
            position = match.end()
        yield number, line[position:] + "\n", ""


class _Outside:
    """What stands between records: an XML declaration, comments and wrapping tags, but no text."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._in_markup = False

    def check(self, text: str, place: str) -> None:
        if self._in_markup:
            _, closed, text = text.partition(">")
            self._in_markup = not closed
        left = _MARKUP.sub("", text).strip()
        if _OPEN_MARKUP.fullmatch(left):
            self._in_markup = True
        elif left:
            raise RecordError(place, f"expected <{self._tag}>, found {excerpt(left)}")


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
        """The text between the tags, other tags included."""
        return self.content[self.inner_start : self.inner_end]

    @property
    def length(self) -> int:
        """How much there is between the tags."""
        return self.inner_end - self.inner_start


def find_elements(content: str, wanted: Callable[[Element], bool]) -> Iterator[Element]:
    """The wanted elements in order, none inside another; unwanted ones are looked into."""
    tags = list(TAG.finditer(content))
    ends: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for tag in tags:
        if tag["end"]:
            ends[tag["name"].upper()].append(tag.span())
    position = 0
    for tag in tags:
        if tag.start() < position or tag["end"] or tag["attributes"].endswith("/"):
            continue
        name = tag["name"].upper()
        nearest = bisect_left(ends[name], tag.span()[1:])
        if nearest == len(ends[name]):
            continue
        inner_end, end = ends[name][nearest]
        element = Element(name, content, tag.start(), tag.end(), inner_end, end)
        if wanted(element):
            yield element
            position = element.end


def plain_text(content: str) -> str:
    """`content` without tags, its entities decoded, on one line."""
    text = TAG.sub(" ", content)
    # int() refuses a character number of thousands of digits: text with one stays as it is.
    with suppress(ValueError):
        text = html.unescape(text)
    return on_one_line(text)
