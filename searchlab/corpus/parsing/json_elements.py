"""The elements of a JSON array, or objects one after the other, each as its text.

Brackets are counted outside strings, so that a file of any size, on one line or many, is read in linear time with one
element in memory. What is in an element is for a JSON parser to say: a mistake in one does not affect the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import clean, excerpt, on_one_line
from searchlab.errors import RecordError

# Characters of a text between elements that are looked at.
MAX_STRAY = 1000

_STRUCTURE = re.compile(r'["{}\[\]]')
_STRING_END = re.compile(r'["\\]')


def read_json_elements(opened: OpenedFile) -> Iterator[tuple[str, str]]:
    """The location and the text of each element; other text between elements is a bad record."""
    scanner = _Scanner(opened)
    for block in opened.blocks():
        yield from scanner.scan(block)
    scanner.finish()


class _Scanner:
    """Where in the structure of the file the reading is."""

    def __init__(self, opened: OpenedFile) -> None:
        self._opened = opened
        self._line = 1
        self._in_array = False
        # Open brackets of the element that is being read; its text unless it is too long, and where it began.
        self._depth = 0
        self._pieces: list[str] = []
        self._length = 0
        self._began = ""
        self._in_string = False
        # The next character follows a backslash.
        self._escaped = False
        # Text between two elements is one mistake, however long it is.
        self._strayed = False

    def scan(self, block: str) -> Iterator[tuple[str, str]]:
        """The elements that end in a block of text."""
        position = 1 if self._escaped else 0
        self._escaped = False
        # Up to here the block has been taken.
        taken = 0
        while sign := (_STRING_END if self._in_string else _STRUCTURE).search(block, position):
            position = sign.end()
            if sign[0] == "\\":
                position += 1
                self._escaped = position > len(block)
            elif sign[0] == '"':
                self._in_string = not self._in_string if self._depth else False
            elif sign[0] in "{[":
                if not self._depth:
                    self._pass_over(block[taken : sign.start()])
                    taken = sign.start()
                    if sign[0] == "[" and not self._in_array:
                        self._in_array, taken = True, sign.end()
                        continue
                    self._began, self._strayed = self._opened.location(self._line), False
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                if not self._depth:
                    text = self._take(block[taken : sign.end()])
                    taken = sign.end()
                    if text is not None:
                        yield self._began, text
            elif sign[0] == "]" and self._in_array:
                self._pass_over(block[taken : sign.start()])
                taken, self._in_array = sign.end(), False
        if self._depth:
            self._add(block[taken:])
        else:
            self._pass_over(block[taken:])

    def finish(self) -> None:
        """Report what the end of the file cuts off."""
        if self._depth:
            message = "expected the end of a JSON object, found the end of the file"
            self._opened.reading.reject(RecordError(self._began, message))

    def _add(self, text: str) -> None:
        """Keep a piece of the element, unless it is too long by now."""
        self._line += text.count("\n")
        limit = self._opened.reading.max_record_length
        was_short = self._length <= limit
        self._length += len(text)
        if self._length <= limit:
            self._pieces.append(text)
        elif was_short:
            self._pieces = []
            self._opened.reading.reject(self._opened.reading.too_long(self._began))

    def _take(self, last: str) -> str | None:
        """The text of the element that ends; None if it is too long."""
        self._add(last)
        is_short = self._length <= self._opened.reading.max_record_length
        text = clean(self._opened.decode("".join(self._pieces)))
        self._pieces, self._length = [], 0
        return text if is_short else None

    def _pass_over(self, text: str) -> None:
        """Skip text between elements; the first that is more than commas and blanks is reported."""
        stray = on_one_line(text[:MAX_STRAY]).strip(", ")
        if stray and not self._strayed:
            before = text[: len(text) - len(text.lstrip(", \t\r\n"))]
            location = self._opened.location(self._line + before.count("\n"))
            found = excerpt(on_one_line(self._opened.decode(stray)))
            self._opened.reading.reject(RecordError(location, f"expected a JSON object, found {found}"))
            self._strayed = True
        self._line += text.count("\n")
