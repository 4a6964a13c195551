"""Building an index on a cluster: its workers write the shards, and the client makes the one commit.

    divide    sources into parts, by size alone                              corpus/document_parts.py
    write     each part as shards, on any worker, as if it had no duplicates  part_writer.py
    compare   the documents of all parts, by their identities                kept_documents.py
    rewrite   the parts of which documents are left out or renamed
    commit    as on one machine

Documents, statistics and scores are those of an index built on one machine, because they do not depend on which
documents share a shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.cluster.cluster import Cluster
from searchlab.cluster.worker_answers import describe_worker
from searchlab.cluster.worker_files import describe_files
from searchlab.corpus.document_parts import DocumentPart, ReadingSettings, divide_sources, list_sources
from searchlab.corpus.documents import missing_columns
from searchlab.corpus.file_ranges import count_lines
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.errors import ClusterError, SettingError, SourceError, name_some
from searchlab.indexing.building.build_options import BuildOptions
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.parts.kept_documents import find_changed
from searchlab.indexing.parts.part_notes import PartNotes
from searchlab.indexing.parts.part_writer import BuildSettings, WrittenPart, write_part
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.indexing.storage.write_lease import WriteLease, require_shards
from searchlab.types import Progress

# A part of this size becomes about one full shard.
MAX_PART_BYTES = 128 * 2**20
# Smaller parts would make shards that cost every search more than dividing them saves.
MIN_PART_BYTES = 4 * 2**20
# Parts for each worker, if they are not full: those that end first take over.
PARTS_PER_WORKER = 2
# Files of which each worker is asked whether it sees them.
MAX_CHECKED_FILES = 100


class ClusterBuild:
    """Writes the documents of sources as shards on a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        names: Sequence[str | Path],
        reading: ReadingSettings,
        notes: ReadingNotes,
        progress: Progress,
        options: BuildOptions,
    ) -> None:
        self._cluster = cluster
        self._names = names
        self._reading = reading
        self._notes = notes
        self._progress = progress
        self._options = options
        self.n_docs = 0

    def write(
        self, folder: Path, prefix: str, analysis: AnalysisSettings, changes: IndexChanges, *, is_update: bool
    ) -> list[ShardRecord]:
        """Write all documents that are new or have changed; `changes` then has what was found in the old index."""
        if analysis.needs_this_process:
            raise SettingError("the analyzer is defined in a notebook or script, expected a module that workers load")
        cluster, notes = self._cluster, self._notes
        with cluster, WriteLease(folder.absolute(), prefix).hold() as lease:
            notes.clear()
            sources = list_sources(self._names, self._reading, notes)
            files = [file.path for source in sources for file in source.files]
            cluster.check_sources([*map(Path, self._names), *files[:MAX_CHECKED_FILES]])
            cluster.check_folder(folder)
            part_bytes = choose_part_bytes(notes.bytes_total, len(cluster.workers))
            parts = divide_sources(
                sources, self._reading, notes, part_bytes, lambda ranges: cluster.run(count_lines_there, ranges)
            )
            build = BuildSettings(
                lease,
                analysis,
                self._reading,
                is_update,
                notes.listener is not None,
                notes.max_kept,
            )
            written = cluster.run(
                write_part,
                [_describe_task(part, number, build) for number, part in enumerate(parts)],
                on_done=lambda n_done, part: self._count(part, n_done == len(parts)),
            )
            notes.bytes_read = 0
            collected = PartNotes(notes)
            for part, of_part in zip(parts, written, strict=True):
                collected.add(part, of_part.notes, of_part.events, of_part.n_documents)
            collected.require_documents(sources)
            if missing := missing_columns(self._reading.fields or {}, notes):
                raise SourceError("fields", f"no table has the column {name_some(missing)}")
            written = self._rewrite(parts, written, build)
            records = [record for of_part in written for record in of_part.records]
            require_shards(folder, records)
        for of_part in written:
            changes.add(of_part.changes)
        return records

    def _count(self, part: WrittenPart, is_last: bool) -> None:
        self.n_docs += part.notes.n_documents
        self._notes.bytes_read += part.notes.bytes_read
        self._progress("writing" if is_last else "reading", self.n_docs, 0)

    def _rewrite(
        self, parts: Sequence[DocumentPart], written: Sequence[WrittenPart], build: BuildSettings
    ) -> list[WrittenPart]:
        """Write the parts again of which the rules for duplicates leave out or rename documents."""
        options = self._options
        changed = find_changed(
            [part.identities for part in written], options.on_duplicate, self._notes, deduplicate=options.deduplicate
        )
        calls = [(*_describe_task(parts[number], number, build), kept) for number, kept in changed.items()]
        again = self._cluster.run(write_part, calls)
        replaced = dict(zip(changed, again, strict=True))
        return [replaced.get(number, part) for number, part in enumerate(written)]


def _describe_task(
    part: DocumentPart, number: int, build: BuildSettings
) -> tuple[DocumentPart, dict[str, str], int, BuildSettings]:
    """The arguments of `write_part`, with what this process finds where the files of the part are."""
    return part, describe_files(str(each.file.path) for each in part.files), number, build


def count_lines_there(path: str, start: int, end: int) -> int:
    """The number of line ends in a range of a file, in a worker."""
    try:
        return count_lines(path, start, end)
    except OSError as error:
        raise ClusterError(f"worker {describe_worker()} finds {path} to be unreadable ({error.strerror})") from error


def choose_part_bytes(n_bytes: int, n_workers: int) -> int:
    """The size of parts: full shards of a large collection, a few parts a worker of a small one."""
    return min(max(n_bytes // (PARTS_PER_WORKER * max(n_workers, 1)) + 1, MIN_PART_BYTES), MAX_PART_BYTES)
