"""Writing the documents of a stream as shards on this machine, without duplicates and unchanged documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus import ReadingNotes
from searchlab.errors import SettingError
from searchlab.indexing.building.build_options import BuildOptions
from searchlab.indexing.building.update import IndexChanges
from searchlab.indexing.building.workers import write_shards
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES, ReadDocuments
from searchlab.indexing.deduplication.same_records import find_same_records
from searchlab.indexing.language_fields import add_languages
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.processors import count_processors
from searchlab.records import Document
from searchlab.types import Progress

# Documents between two progress reports.
PROGRESS_STEP = 200


class LocalBuild:
    """Writes the documents that `read()` yields, with one process or several; `n_docs` counts them."""

    def __init__(
        self,
        read: ReadDocuments,
        notes: ReadingNotes,
        progress: Progress,
        options: BuildOptions,
        *,
        jobs: int | None,
    ) -> None:
        if jobs is not None and jobs < 1:
            raise SettingError(f"jobs is {jobs}, expected 1 or more")
        self.jobs = jobs or count_processors()
        self._progress = progress
        distinct = DUPLICATE_RULES[options.on_duplicate](read, notes)
        self._documents = self._count(find_same_records(distinct, notes, leave_out=options.deduplicate))
        self.n_docs = 0

    def write(
        self, folder: Path, prefix: str, analysis: AnalysisSettings, changes: IndexChanges, *, is_update: bool
    ) -> list[ShardRecord]:
        """Write all documents that are new or have changed; `changes` then has what was found in the old index."""
        return write_shards(
            changes.select_changed(add_languages(self._documents, analysis)),
            folder,
            prefix,
            analysis,
            self.jobs,
            lambda: self._progress("writing", self.n_docs, 0),
            changes.lookup,
        )

    def _count(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            self.n_docs += 1
            if self.n_docs % PROGRESS_STEP == 0:
                self._progress("reading", self.n_docs, 0)
            yield document
