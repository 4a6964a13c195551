"""How are the files of the SMART system (Cranfield, CISI, MED, CACM) read?

`.I 17` starts record 17, and a line with a dot and a letter starts one of its parts:

    .T title   .A authors   .B source     .W text
    .K keywords   .N note   .C categories   .X cross references, which are dropped

Any other line is text, even one that looks much like a marker. A part that occurs twice is continued.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from searchlab.corpus.characters import excerpt
from searchlab.corpus.files import OpenedFile
from searchlab.corpus.names import check_name
from searchlab.corpus.parts import TopicParts
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
DROPPED = "references"
# A topic may do without a text of its own; the first of these is then what is asked.
MAIN_PARTS = ("text", "title", "source")

_HEAD = re.compile(r"\s*\.I(?:[ \t]+\S|\d)")
_ITEM = re.compile(r"\.I(\s.*|\d.*|)")
_MARKER = re.compile(rf"\.([{''.join(MARKERS)}])\s*")


@dataclass(slots=True)
class _Record:
    place: str
    name: str
    lines: dict[str, list[str]] = field(default_factory=dict)

    def parts(self) -> dict[str, str]:
        texts = {part: "\n".join(lines).strip() for part, lines in self.lines.items()}
        return {part: text for part, text in texts.items() if text}


def is_smart(opened: OpenedFile) -> bool:
    """A first line that starts a record."""
    return _HEAD.match(opened.head) is not None


def read_smart_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file; what is neither title nor text is kept in their fields."""
    for record in _read_records(opened):
        parts = record.parts()
        docno = check_name("docno", record.name, record.place)
        title, body = parts.pop("title", ""), parts.pop("text", "")
        yield Document(docno, title, body, parts, record.place)


def read_smart_topics(opened: OpenedFile) -> Iterator[TopicParts]:
    """The topics of the file."""
    for record in _read_records(opened):
        parts = record.parts()
        main = next((part for part in MAIN_PARTS if part in parts), MAIN_PARTS[0])
        yield TopicParts(check_name("qid", record.name, record.place), parts, main, record.place)


def _read_records(opened: OpenedFile) -> Iterator[_Record]:
    record: _Record | None = None
    part = "text"
    for number, line in opened.lines():
        if item := _ITEM.fullmatch(line):
            if record is not None:
                yield record
            record, part = _start_record(item[1], opened.place(number)), "text"
        elif record is None:
            if line.strip():
                raise RecordError(opened.place(number), f"expected a line '.I …', found {excerpt(line)}")
        elif marker := _MARKER.fullmatch(line):
            part = MARKERS[marker[1]]
        elif part != DROPPED:
            record.lines.setdefault(part, []).append(line)
    if record is not None:
        yield record


def _start_record(name: str, place: str) -> _Record:
    if not name.strip():
        raise RecordError(place, "expected a name after .I, found none")
    return _Record(place, name)
