"""All documents that a search finds, whatever the number of hits asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.retrieval.fields.other_fields import OtherField

# For each shard, whether each of its documents is found.
Marks = list[Array]


@dataclass(frozen=True)
class Matches:
    """What is computed about all documents that a search finds, when it is first asked for.

    `count` gives their number, `mark` the documents, and `search_fields`, given a function for these, the fields in
    which other documents have the words of the query.
    """

    count: Callable[[], int]
    mark: Callable[[], Marks]
    search_fields: Callable[[Callable[[], Marks]], tuple[OtherField, ...]]


def mark_documents(snapshot: Snapshot, shards: Array, docs: Array) -> Marks:
    """Marks of some documents, given by shard index and number."""
    marks = [np.zeros(shard.columns.n_docs, bool) for shard in snapshot.shards]
    for shard_index, marked in enumerate(marks):
        marked[docs[shards == shard_index]] = True
    return marks


def count_marks(marks: Marks) -> int:
    """The number of documents that are marked."""
    return sum(int(np.count_nonzero(marked)) for marked in marks)
