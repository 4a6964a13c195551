"""Documents and topics in the format of the SMART system (Cranfield, CISI, MED, CACM).

`.I 17` starts record 17, and a line with a dot and a letter starts one of its parts:

    .T title   .A authors   .B source     .W text
    .K keywords   .N note   .C categories   .X cross references, which are dropped

Any other line is text, even one that resembles a marker. A part that occurs twice is continued.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.parsing.topic_parts import TopicParts
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError
from searchlab.records import Document

MARKERS = {
    "T": "title",
    "A": "authors",
    "B": "source",
    "W": "text",
    "K": "keywords",
    "N": "note",
    "C": "categories",
    "X": "references",
}
DROPPED = frozenset({"references"})
# The first of these parts that a topic has is its main part.
MAIN_PARTS = ("text", "title", "source")

_HEAD = re.compile(r"\s*\.I(?:[ \t]+\S|\d)")
_ITEM = re.compile(r"\.I(\s.*|\d.*|)")
_MARKER = re.compile(r"\.([A-Z])\s*")


@dataclass(slots=True)
class MarkedRecord:
    """The lines between one `.I` and the next, by part; `name` is what follows the `.I`, `length` counts characters."""

    location: str
    name: str
    lines: dict[str, list[str]] = field(default_factory=dict)
    length: int = 0

    def parts(self) -> dict[str, str]:
        """The text of each part that is not empty."""
        texts = {part: "\n".join(lines).strip() for part, lines in self.lines.items() if part not in DROPPED}
        return {part: text for part, text in texts.items() if text}

    def checked_name(self, kind: str) -> str:
        """The name as a docno or qid (`kind`)."""
        if not self.name.strip():
            raise RecordError(self.location, "expected a name after .I, found none")
        return check_name(kind, self.name, self.location)


def is_smart(opened: OpenedFile) -> bool:
    """Whether the first line starts a record."""
    return _HEAD.match(opened.head) is not None


def read_smart_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file; the parts other than title and text become fields."""
    return opened.reading.parse_each(_document, read_marked_records(opened, MARKERS))


def read_smart_topics(opened: OpenedFile) -> Iterator[TopicParts]:
    """The topics of the file."""
    return opened.reading.parse_each(_topic, read_marked_records(opened, MARKERS))


def read_marked_records(opened: OpenedFile, markers: Mapping[str, str]) -> Iterator[MarkedRecord]:
    """The records of the file; `markers` maps each letter to the part that it starts."""
    record: MarkedRecord | None = None
    strayed = False
    part = "text"
    for number, line in opened.lines():
        if item := _ITEM.fullmatch(line):
            if record is not None:
                yield record
            record, part, strayed = MarkedRecord(opened.location(number), item[1]), "text", False
        elif record is None:
            if line.strip() and not strayed:
                opened.reading.reject(
                    RecordError(opened.location(number), f"expected a line '.I …', found {excerpt(line)}")
                )
                strayed = True
        elif (marker := _MARKER.fullmatch(line)) and marker[1] in markers:
            part = markers[marker[1]]
        else:
            record.lines.setdefault(part, []).append(line)
        if record is not None:
            record.length += len(line) + 1
            if record.length > opened.reading.max_record_length:
                opened.reading.reject(opened.reading.too_long(record.location))
                record, strayed = None, True
    if record is not None:
        yield record


def _document(record: MarkedRecord) -> Document:
    parts = record.parts()
    title, body = parts.pop("title", ""), parts.pop("text", "")
    return Document(record.checked_name("docno"), title, body, parts, record.location)


def _topic(record: MarkedRecord) -> TopicParts:
    parts = record.parts()
    main = next((part for part in MAIN_PARTS if part in parts), MAIN_PARTS[0])
    return TopicParts(record.checked_name("qid"), parts, main, record.location)
