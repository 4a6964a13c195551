"""Records of tagged lines, as in MEDLINE, RIS and the exports of Web of Science.

A line begins with a tag ("TI  - Wings"); a line without a tag continues the line before.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import RecordError


@dataclass(slots=True)
class TaggedRecord:
    """A record that is being read: for each tag its values, each a list of lines; `length` counts its characters."""

    location: str
    number: int = 0
    values: defaultdict[str, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    last: list[str] = field(default_factory=list)
    length: int = 0
    _texts: dict[str, list[str]] = field(default_factory=dict, repr=False)

    def add(self, tag: str, text: str) -> None:
        """Start a new value of a tag."""
        self.last = [text]
        self.values[tag].append(self.last)

    def extend(self, text: str) -> None:
        """Continue the last value."""
        self.last.append(text)

    @property
    def texts(self) -> dict[str, list[str]]:
        """For each tag that has any its values, each on one line; to be asked for when the record is complete."""
        if not self._texts:
            for tag, values in self.values.items():
                texts = []
                for lines in values:
                    if text := on_one_line(lines[0] if len(lines) == 1 else " ".join(lines)):
                        texts.append(text)
                if texts:
                    self._texts[tag] = texts
        return self._texts

    def all(self, *tags: str) -> list[str]:
        """Every value of the first of the tags that has any."""
        for tag in tags:
            if texts := self.texts.get(tag):
                return texts
        return []

    def union(self, *tags: str) -> list[str]:
        """Every value of all the tags; of a later tag only those that no earlier one has."""
        found: list[str] = []
        for tag in tags:
            if texts := self.texts.get(tag):
                known = frozenset(found)
                found += [text for text in texts if text not in known] if known else texts
        return found

    def text(self, *tags: str) -> str:
        """The values of the first of the tags that has any, as one text."""
        return " ".join(self.all(*tags))

    def lines(self, tag: str) -> list[str]:
        """Every line of the values of a tag, where each line is an item of a list."""
        return [line for value in self.values.get(tag, ()) for line in map(on_one_line, value) if line]

    def others(self, known: Set[str]) -> dict[str, list[str]]:
        """The values of all tags that are not known."""
        return {tag: texts for tag, texts in self.texts.items() if tag not in known}


def read_tagged_records(
    opened: OpenedFile, tagged: re.Pattern[str], first: str, last: str, example: str, outside: re.Pattern[str]
) -> Iterator[TaggedRecord]:
    """The records of a file, each from a line with the tag `first` to one with the tag `last`.

    `tagged` finds the tag and the text of a line. `example` is a first line, for messages. A line between records is a
    mistake, unless it is blank or fits `outside`.
    """
    record: TaggedRecord | None = None
    strayed = False
    n_records = 0
    find_tag, max_length = tagged.fullmatch, opened.reading.max_record_length
    for number, line in opened.lines():
        found = find_tag(line)
        tag, text = found.groups("") if found else (None, line)
        if tag == first:
            if record is not None:
                message = f"expected {last}, found another {first} at line {number}"
                opened.reading.reject(RecordError(record.location, message))
            n_records += 1
            record, strayed = TaggedRecord(opened.location(number), n_records), False
        if record is None:
            if line.strip() and not strayed and not outside.fullmatch(line):
                message = f"expected a line '{example}', found {excerpt(line)}"
                opened.reading.reject(RecordError(opened.location(number), message))
                strayed = True
            continue
        record.length += len(line) + 1
        if record.length > max_length:
            opened.reading.reject(opened.reading.too_long(record.location))
            record, strayed = None, True
        elif tag is None:
            record.extend(text)
        elif tag == last:
            yield record
            record = None
        else:
            record.add(tag, text)
    if record is not None:
        opened.reading.reject(RecordError(record.location, f"expected {last}, found the end of the file"))
