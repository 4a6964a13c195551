"""Reading topics from files and datasets.

Topics are few and are needed together, so they are returned as a list: their qids are checked for duplicates, and their
text is composed of the parts that the caller chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from searchlab.corpus.detection import Format, detect_format, named_format, unrecognised_error
from searchlab.corpus.formats.jsonl import is_jsonl, read_jsonl_topics
from searchlab.corpus.formats.smart import is_smart, read_smart_topics
from searchlab.corpus.formats.topic_tsv import is_tsv, read_tsv_topics
from searchlab.corpus.formats.trec_sgml import is_trec_topics, read_trec_topics
from searchlab.corpus.ir_datasets import find_dataset, is_dataset, read_dataset_topics
from searchlab.corpus.parsing.topic_parts import TopicParts, compose_topics
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import SourceFile, open_source_file
from searchlab.corpus.sources import single_file
from searchlab.errors import DuplicateError, SourceError
from searchlab.records import Topic

TOPIC_FORMATS: dict[str, Format[TopicParts]] = {
    "jsonl": Format("JSON, one object a line", is_jsonl, read_jsonl_topics),
    "trec": Format("TREC SGML, <top> … </top>", is_trec_topics, read_trec_topics),
    "smart": Format("SMART, as Cranfield and CISI: .I .W", is_smart, read_smart_topics),
    "tsv": Format("a qid, a tab and a text a line", is_tsv, read_tsv_topics),
}


def read_topics(
    path: str | Path | SourceFile,
    *,
    format: str | None = None,
    notes: ReadingNotes | None = None,
    fields: str | Sequence[str] | None = None,
) -> list[Topic]:
    """Read the topics of a file, of standard input (`-`) or of a dataset (`ir_datasets:…`).

    `format` is a key of TOPIC_FORMATS; by default the content decides. `fields` has the names of the parts that make up
    the text, such as ("title", "desc"); `text`, the default, is the main part.
    """
    notes = ReadingNotes() if notes is None else notes
    chosen = named_format(format, TOPIC_FORMATS)
    if not isinstance(path, SourceFile) and is_dataset(path):
        topics = _read_dataset(path, notes)
    else:
        topics = _read_file(path, chosen, notes)
    check_qids(topics)
    return compose_topics(topics, [fields] if isinstance(fields, str) else fields)


def _read_dataset(name: str | Path, notes: ReadingNotes) -> list[TopicParts]:
    dataset = find_dataset(name)
    topics = list(read_dataset_topics(dataset, ReadingContext(notes)))
    if not topics:
        raise SourceError(dataset.name, "holds no topics")
    return topics


def _read_file(
    path: str | Path | SourceFile, chosen: Format[TopicParts] | None, notes: ReadingNotes
) -> list[TopicParts]:
    file = single_file(path)
    notes.bytes_total += file.size
    with open_source_file(file, ReadingContext(notes)) as opened:
        format = chosen or detect_format(opened, TOPIC_FORMATS)
        if format is None and not opened.is_blank:
            raise unrecognised_error(opened, TOPIC_FORMATS)
        topics = list(format.read(opened)) if format else []
    if not topics:
        raise SourceError(file.name, "holds no topics")
    notes.n_files += 1
    return topics


def check_qids(topics: Sequence[TopicParts]) -> None:
    """Raise DuplicateError if two topics have the same qid."""
    locations: dict[str, str] = {}
    for topic in topics:
        if topic.qid in locations:
            message = f"topic {topic.qid} occurs already at {locations[topic.qid]}"
            raise DuplicateError(topic.location, message)
        locations[topic.qid] = topic.location
