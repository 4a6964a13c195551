"""The task of a worker: read the documents of a part, and write them as shards.

A task may run several times, if its worker is lost, and even at the same time as its repetition, if only the
connection was. So each run writes under names of its own; those of lost runs are in no manifest, and are swept. It
may also outlive the client that gave it; then the lease on its shards has ended.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.cluster.worker_files import require_files
from searchlab.corpus.document_parts import DocumentPart, PartFile, ReadingSettings
from searchlab.corpus.reading_notes import ReadingEvent, ReadingEvents, ReadingNotes
from searchlab.indexing.building.update import FoundChanges, IndexChanges
from searchlab.indexing.building.workers import RollingShardWriter
from searchlab.indexing.language_fields import add_languages
from searchlab.indexing.parts.part_identities import Identities, KeptDocnos, PackedIdentities
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.indexing.storage.write_lease import WriteLease
from searchlab.records import Document


@dataclass(frozen=True)
class BuildSettings:
    """What all parts of an index have in common; `is_update` says whether the folder has an index to compare with."""

    lease: WriteLease
    analysis: AnalysisSettings
    reading: ReadingSettings
    is_update: bool
    lists_events: bool
    max_kept: int


@dataclass(frozen=True)
class WrittenPart:
    """What became of a part; `n_documents` counts the documents of each source, by its number."""

    records: list[ShardRecord]
    identities: PackedIdentities
    changes: FoundChanges
    notes: ReadingNotes
    events: list[ReadingEvent]
    n_documents: Counter[int]


def write_part(
    part: DocumentPart, files: Mapping[str, str], number: int, build: BuildSettings, kept: KeptDocnos | None = None
) -> WrittenPart:
    """Read a part and write its documents as shards: all, or those that are `kept`, under these docnos.

    `files` are those of the part as the client finds them (see `describe_files`).
    """
    require_files(files)
    events = ReadingEvents()
    notes = ReadingNotes(listener=events if build.lists_events else None, max_kept=build.max_kept)
    identities, n_documents = Identities(), Counter[int]()
    documents = _identified(part.read(build.reading, notes), identities, n_documents)
    if kept is not None:
        documents = _only(documents, kept)
    folder, prefix = build.lease.folder, f"{build.lease.prefix}-{number}-{secrets.token_hex(3)}"
    with (
        build.lease.write(prefix) as look,
        closing(Snapshot(folder)) if build.is_update else nullcontext() as old,
    ):
        changes = IndexChanges(old)
        shards = RollingShardWriter(folder, prefix, build.analysis, changes.lookup)
        for document in changes.select_changed(add_languages(_watch(documents, look), build.analysis)):
            shards.add(document)
        records = shards.finish()
        found = changes.found()
    return WrittenPart(records, identities.pack(), found, replace(notes, listener=None), list(events), n_documents)


def _identified(
    documents: Iterable[tuple[PartFile, Document]], identities: Identities, n_documents: Counter[int]
) -> Iterator[Document]:
    for file, document in documents:
        identities.add(document)
        n_documents[file.source] += 1
        yield document


def _watch(documents: Iterable[Document], look: Callable[[], None]) -> Iterator[Document]:
    for document in documents:
        look()
        yield document


def _only(documents: Iterable[Document], kept: KeptDocnos) -> Iterator[Document]:
    for document, docno in zip(documents, kept, strict=True):
        if docno is not None:
            yield document if docno == document.docno else replace(document, docno=docno)
