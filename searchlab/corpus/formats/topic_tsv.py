"""Topics in two columns: a qid, a tab and a text on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.parsing.topic_parts import MAIN, TopicParts
from searchlab.corpus.source_files import OpenedFile
from searchlab.errors import RecordError


def is_tsv(opened: OpenedFile) -> bool:
    """Whether the first line has a tab and there is no NUL byte."""
    first_line = re.split(r"[\r\n]", opened.head.lstrip(), maxsplit=1)[0]
    return "\t" in first_line and "\0" not in opened.head


def read_tsv_topics(opened: OpenedFile) -> Iterator[TopicParts]:
    """The topics of the file, one for each line."""
    lines = ((opened.location(number), line) for number, line in opened.records() if line.strip())
    return opened.reading.parse_each(_topic, lines)


def _topic(located: tuple[str, str]) -> TopicParts:
    location, line = located
    columns = line.split("\t")
    if len(columns) != 2:
        raise RecordError(location, f"expected 2 columns separated by a tab, found {len(columns)}")
    return TopicParts(check_name("qid", columns[0], location), {MAIN: columns[1]}, MAIN, location)
