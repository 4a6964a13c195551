"""Diagnosis of an index: what the doctor found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from searchlab.errors import REBUILD
from searchlab.indexing.storage.layout import STORED_DOCUMENTS, WHOOSH

REMOVED_BY_NEXT_RUN = "the next `searchlab index` removes it"
AFFECTS_DISPLAY = f"searching still works, but what is shown of documents may be missing; {REBUILD}"
AFFECTS_WHOOSH = f"searching still works, but Whoosh itself cannot read the index; {REBUILD}"
# What to do about a damaged file or folder of a shard, other than to rebuild the index at once.
REMEDIES = {STORED_DOCUMENTS: AFFECTS_DISPLAY, WHOOSH: AFFECTS_WHOOSH}


@dataclass(frozen=True)
class IndexFinding:
    """A problem of an index: the file or shard, the problem, and what to do about it."""

    location: str
    problem: str
    remedy: str = REBUILD
    serious: bool = True

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}; {self.remedy}"


@dataclass(frozen=True)
class Diagnosis:
    """The result of an examination; `n_compared` of Whoosh's `n_postings` postings were compared with the columns.

    `language` is that of the index, "" if it could not be examined to the end.
    """

    folder: Path
    n_shards: int
    n_docs: int
    findings: tuple[IndexFinding, ...]
    n_postings: int = 0
    n_compared: int = 0
    language: str = ""

    @property
    def healthy(self) -> bool:
        """Whether nothing serious was found."""
        return not any(finding.serious for finding in self.findings)


@dataclass(frozen=True)
class ShardFindings:
    """The findings of a shard in each stage, and whether its columns can be read; else it is not examined further."""

    files: tuple[IndexFinding, ...]
    columns: tuple[IndexFinding, ...]
    documents: tuple[IndexFinding, ...]
    is_readable: bool
