"""Shards: the folders that hold an index's documents.

A shard is written once and never changed: its columns (numbers for scoring), its stored documents, and the same
postings with positions as a Whoosh index. The documents that were deleted or replaced later are listed in a file of
their own, which is written again whenever the list grows; the manifest names the current one.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from searchlab.analysis.analyzer import TermLookup
from searchlab.atomic_file import sync_folder
from searchlab.errors import REBUILD, IndexCorrupt, unreadable
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.columns import ShardColumns, open_columns
from searchlab.indexing.storage.documents.stored_documents import StoredDocuments
from searchlab.indexing.storage.file_sync import sync_file
from searchlab.indexing.storage.layout import COLUMNS, DELETED_PREFIX, SHARD_PREFIX, STORED_DOCUMENTS
from searchlab.indexing.storage.lock import lock_shard, unlock
from searchlab.json_records import file_table, inner_path, one_line, whole_number
from searchlab.records import Document
from searchlab.types import Array

# Up to this size, reading all words is faster than looking up some thousands of them one by one.
MAX_WORDS_READ_AT_ONCE = 500_000
# Documents are numbered by four bytes.
MAX_DOCS = 2**32 - 1


@dataclass(frozen=True)
class ShardRecord:
    """A shard's entry in the manifest: its folder, its documents and words, and the size and CRC-32 of each file.

    `deleted_file` lists the numbers of the `n_deleted` deleted documents; it is "" if there are none.
    """

    name: str
    n_docs: int
    n_words: int
    files: dict[str, tuple[int, int]]
    deleted_file: str = ""
    n_deleted: int = 0

    def to_json(self) -> dict[str, Any]:
        """The record as it is written to the manifest."""
        return {
            "name": self.name,
            "n_docs": self.n_docs,
            "n_words": self.n_words,
            "dead": self.deleted_file,
            "n_dead": self.n_deleted,
            "files": {k: list(v) for k, v in self.files.items()},
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ShardRecord:
        """The inverse of `to_json`; raises ValueError for anything else, and for names outside the index."""
        name, deleted_file = inner_path(one_line(record, "name")), one_line(record, "dead")
        if "/" in name or not name.startswith(SHARD_PREFIX):
            raise ValueError(f"found {name!r}, expected a shard")
        files = file_table(record, "files")
        if deleted_file and not (deleted_file.startswith(DELETED_PREFIX) and deleted_file in files):
            raise ValueError(f"found {deleted_file!r}, expected a list of deleted documents")
        n_docs = whole_number(record, "n_docs", 1, MAX_DOCS)
        n_deleted = whole_number(record, "n_dead", 0, n_docs)
        return cls(name, n_docs, whole_number(record, "n_words"), files, deleted_file, n_deleted)

    @property
    def n_live(self) -> int:
        """The number of documents that are not deleted."""
        return self.n_docs - self.n_deleted

    @property
    def n_live_words(self) -> int:
        """The estimated number of words of the live documents."""
        return self.n_words * self.n_live // self.n_docs

    @property
    def n_bytes(self) -> int:
        """The size of the shard on disk."""
        return sum(size for size, _ in self.files.values())


class TermCounts(NamedTuple):
    """The number of live documents with a term, its occurrences in them, and its largest frequency in one of them."""

    doc_freq: int
    term_count: int
    max_tf: int


class Shard:
    """A shard opened for reading; until it is closed or garbage-collected, no writer removes its folder.

    That is so if it `is_locked`. If not, what is open stays readable, but the folder may be removed.
    """

    def __init__(self, folder: Path, record: ShardRecord) -> None:
        descriptor = lock_shard(folder)
        self.is_locked = descriptor is not None
        self._unlock = (lambda: None) if descriptor is None else weakref.finalize(self, unlock, descriptor)
        for name, (size, _) in record.files.items():
            path = folder / name
            try:
                n_bytes = path.stat().st_size
            except (FileNotFoundError, NotADirectoryError):
                raise IndexCorrupt(f"{path}: missing; {REBUILD}") from None
            except OSError as error:
                raise unreadable(path, error) from None
            if n_bytes != size:
                raise IndexCorrupt(f"{path}: {n_bytes} bytes, expected {size}; {REBUILD}")
        self.record = record
        self.folder = folder
        self.columns: ShardColumns = open_columns(folder / COLUMNS)
        self.stored = StoredDocuments(folder / STORED_DOCUMENTS, self.columns.docnos)
        if self.columns.n_docs != record.n_docs:
            raise IndexCorrupt(f"{folder}: {self.columns.n_docs} documents, expected {record.n_docs}")
        # For each document whether it is live; None if all are, which saves the test of each.
        self.live = read_live(folder, record)

    def close(self) -> None:
        """Unlock the shard; a writer may then remove it."""
        self._unlock()

    def document(self, number: int) -> Document:
        """The stored document with this number."""
        return self.stored.document(number)

    @property
    def live_docs(self) -> Array:
        """The numbers of live documents."""
        return np.arange(self.columns.n_docs) if self.live is None else np.flatnonzero(self.live)

    def live_doc_freqs(self, stream: str = "both") -> Array:
        """For each term the number of live documents that have it."""
        column = self.columns.streams[stream]
        if self.live is None:
            return np.diff(column.offsets.whole)
        return np.diff(np.concatenate([[0], np.cumsum(self.live[column.docs.whole])])[column.offsets.whole])

    def count_tokens(self, text: str) -> int:
        """The number of tokens of live documents in a stream or a field."""
        if text in self.columns.streams and self.live is None:
            # The tokens are those of both texts: that counts them without reading anything.
            if text not in ("title", "body"):
                return len(self.columns.document_tokens(text).tokens)
            return int(self.columns.streams[text].counts.whole.sum())
        columns = self.columns.text(text)
        if columns is None:
            return 0
        lengths = columns.stream.lengths.whole
        return int((lengths if self.live is None else lengths[self.live]).sum(dtype=np.int64))

    def count_term(self, stream: str, number: int) -> TermCounts:
        """The counts of a term, given by its number in a stream, in live documents."""
        column = self.columns.streams[stream]
        postings = slice(int(column.offsets[number]), int(column.offsets[number + 1]))
        if self.live is None:
            return TermCounts(postings.stop - postings.start, int(column.counts[number]), int(column.max_tfs[number]))
        try:
            tfs = column.tfs[postings][self.live[column.docs[postings]]]
        except IndexError:
            raise IndexCorrupt(f"{self.folder}: the postings of {stream} are damaged; {REBUILD}") from None
        return TermCounts(len(tfs), int(tfs.sum(dtype=np.int64)), int(tfs.max()) if len(tfs) else 0)


def largest_shard_lookup(shards: Sequence[Shard]) -> TermLookup | None:
    """The term lookup of the shard with the most words: most words of new documents then need no stemming.

    There is none if words have languages.
    """
    if not shards or shards[0].columns.languages is not None:
        return None
    columns = max((shard.columns for shard in shards), key=lambda columns: len(columns.words))
    return columns.all_words().__getitem__ if len(columns.words) <= MAX_WORDS_READ_AT_ONCE else columns.term_of


def read_live(folder: Path, record: ShardRecord) -> Array | None:
    """For each document of a shard whether it is live; None if all are."""
    if not record.deleted_file:
        return None
    path = folder / record.deleted_file
    live = np.ones(record.n_docs, bool)
    try:
        live[ArrayFile(path)["dead"].whole] = False
    except (KeyError, IndexError):
        raise IndexCorrupt(f"{path}: not a list of deleted documents; {REBUILD}") from None
    if np.count_nonzero(live) != record.n_live:
        n_deleted = record.n_docs - np.count_nonzero(live)
        raise IndexCorrupt(f"{path}: {n_deleted} deleted documents, expected {record.n_deleted}; {REBUILD}")
    return live


def write_deletions(folder: Path, record: ShardRecord, deleted: Array) -> ShardRecord:
    """Write the numbers of all deleted documents of a shard; returns the shard's record with the new list."""
    name = f"{DELETED_PREFIX}{secrets.token_hex(4)}"
    write_arrays(folder / name, {"dead": np.sort(deleted).astype(np.uint32)})
    files = {path: entry for path, entry in record.files.items() if path != record.deleted_file}
    files[name] = sync_file(folder / name)
    sync_folder(folder)
    return replace(record, files=files, deleted_file=name, n_deleted=len(deleted))
