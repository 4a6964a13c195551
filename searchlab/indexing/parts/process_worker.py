"""A worker process that reads parts itself, and writes their documents as shards once it knows which are kept.

    parent → worker   the task; parts to be read; for each part that was read, what is changed; None at the end
    worker → parent   for each part what was read, as `ReadPart`; the records of the shards written at the end

The parent knows all docnos; a worker reads a part ahead, so that it need not wait for what the parent says.
"""

from __future__ import annotations

import gc
import pickle
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from zstandard import ZstdCompressor, ZstdDecompressor

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus.document_parts import DocumentPart, ReadingSettings
from searchlab.corpus.reading_notes import ReadingEvent, ReadingEvents, ReadingNotes
from searchlab.indexing.building.worker_process import Receive, Send, serve_parent
from searchlab.indexing.building.workers import RollingShardWriter
from searchlab.indexing.deduplication.same_records import hash_keys
from searchlab.indexing.language_fields import add_languages
from searchlab.indexing.parts.part_identities import hash_content
from searchlab.indexing.storage.documents.digest import digest
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.records import Document
from searchlab.types import Array

# The documents of a part that are not kept under their own docnos: their numbers, and their new docnos or None.
ChangedDocnos = Mapping[int, str | None]


@dataclass(frozen=True)
class ReadingTask:
    """What a worker has to do with all its parts; `max_kept` is that of its notes."""

    folder: Path
    prefix: str
    analysis: AnalysisSettings
    reading: ReadingSettings
    lists_events: bool
    max_kept: int


@dataclass(frozen=True, eq=False)
class ReadPart:
    """What was read: numbers that differ for docnos that differ in practice, `keys` of publications, and notes.

    `packed` has what else tells documents apart; it is looked at only if some may be the same.
    """

    hashes: Array
    packed: bytes
    keys: Mapping[int, Mapping[str, int]]
    notes: ReadingNotes
    events: list[ReadingEvent]
    n_documents: Counter[int]

    def __len__(self) -> int:
        return len(self.hashes)

    def stand_ins(self) -> Iterator[Document]:
        """A document in place of each: what tells its content apart is the title, the keys are the fields."""
        docnos, locations, contents = pickle.loads(ZstdDecompressor().decompress(self.packed))
        for number, (docno, location, content) in enumerate(zip(docnos, locations, contents, strict=True)):
            yield Document(docno, content.hex(), "", self.keys.get(number, {}), location)


@dataclass(frozen=True)
class _Documents:
    """The documents of a part, with their digests where these are known already."""

    documents: list[Document] = field(default_factory=list)
    digests: list[bytes | None] = field(default_factory=list)

    def changed(self, docnos: ChangedDocnos) -> Iterator[tuple[Document, bytes | None]]:
        """The documents that are kept."""
        for number, (document, known) in enumerate(zip(self.documents, self.digests, strict=True)):
            docno = docnos.get(number, document.docno)
            if docno == document.docno:
                yield document, known
            elif docno is not None:
                yield replace(document, docno=docno), None


def main() -> None:
    """The main function of a worker process."""
    serve_parent(_work)


def _work(receive: Receive, send: Send) -> list[ShardRecord]:
    # Its share is large enough for compiled loops.
    import searchlab.indexing.inversion.word_kernel  # noqa: F401

    # What is loaded is never looked at again by the search for cycles.
    gc.freeze()
    task: ReadingTask = receive()
    shards = RollingShardWriter(task.folder, task.prefix, task.analysis, on_written=gc.collect)
    waiting: deque[_Documents] = deque()
    while (message := receive()) is not None:
        if isinstance(message, DocumentPart):
            documents, read = _read(message, task)
            waiting.append(documents)
            send(read)
            continue
        kept = waiting.popleft().changed(message)
        if task.analysis.is_mixed:
            for document in add_languages((document for document, _ in kept), task.analysis):
                shards.add(document)
        else:
            for document, known in kept:
                shards.add(document, known)
    return shards.finish()


def _read(part: DocumentPart, task: ReadingTask) -> tuple[_Documents, ReadPart]:
    events = ReadingEvents()
    notes = ReadingNotes(listener=events if task.lists_events else None, max_kept=task.max_kept)
    kept = _Documents()
    keys: dict[int, dict[str, int]] = {}
    n_documents = Counter[int]()
    contents: list[bytes] = []
    for number, (file, document) in enumerate(part.read(task.reading, notes)):
        n_documents[file.source] += 1
        kept.documents.append(document)
        if document.fields:
            if found := hash_keys(document):
                keys[number] = found
            contents.append(hash_content(document))
            kept.digests.append(None)
        else:
            contents.append(digest(document))
            kept.digests.append(contents[-1])
    hashes = np.array(array("q", [hash(document.docno) for document in kept.documents]), np.int64)
    packed = pack_identities(kept.documents, contents)
    return kept, ReadPart(hashes, packed, keys, replace(notes, listener=None), list(events), n_documents)


def pack_identities(documents: Sequence[Document], contents: Sequence[bytes]) -> bytes:
    """The docnos and locations of documents, and bytes that tell their contents apart."""
    docnos, locations = [each.docno for each in documents], [each.location for each in documents]
    return ZstdCompressor(level=1).compress(pickle.dumps((docnos, locations, contents)))
