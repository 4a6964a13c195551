"""Rules for duplicates over documents that other processes hold: the rules see stand-ins, and only where they must.

Nearly always no two docnos are the same, and documents have no publication keys; numbers that differ for docnos that
differ show this for a whole part at once. From the first part on for which it is not so, the rules are asked about each
document, those of earlier parts first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.indexing.building.build_options import BuildOptions
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES
from searchlab.indexing.deduplication.same_records import find_same_records
from searchlab.indexing.parts.process_worker import ChangedDocnos, ReadPart
from searchlab.records import Document
from searchlab.types import Array


def decide(
    parts: Iterable[ReadPart],
    keep: Callable[[ReadPart, ChangedDocnos], None],
    notes: ReadingNotes,
    options: BuildOptions,
) -> None:
    """Apply the rules to the documents of all parts, in their order; `keep` is told what they change in each part.

    The next part is taken after that.
    """
    number = 0
    # Of the part at hand: the docnos under which documents are kept.
    kept: dict[int, str] = {}

    def stand_ins() -> Iterator[Document]:
        nonlocal number
        known = KnownHashes()
        before: list[ReadPart] | None = []
        for part in parts:
            if before is not None and not part.keys and known.add(part.hashes):
                before.append(part)
                keep(part, {})
                continue
            for earlier in before or ():
                yield from earlier.stand_ins()
            before = None
            kept.clear()
            docnos = []
            for place, document in enumerate(part.stand_ins()):
                number = place
                docnos.append(document.docno)
                yield document
            # The rules yield a document before they read the next one.
            keep(part, {place: kept.get(place) for place, docno in enumerate(docnos) if kept.get(place) != docno})

    distinct = DUPLICATE_RULES[options.on_duplicate](stand_ins, notes)
    for document in find_same_records(distinct, notes, leave_out=options.deduplicate, keys_of=lambda each: each.fields):
        kept[number] = document.docno


class KnownHashes:
    """A set of 64-bit numbers: a few sorted arrays, each much longer than the next, so that adding is cheap."""

    def __init__(self) -> None:
        self._runs: list[Array] = []

    def add(self, hashes: Array) -> bool:
        """Add numbers; whether all of them are distinct and new."""
        new = np.sort(hashes)
        is_new = not (new[1:] == new[:-1]).any()
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, new), len(run) - 1)
            is_new &= not (run[places] == new).any()
        while self._runs and len(self._runs[-1]) < 2 * len(new):
            # A stable sort merges what is sorted already.
            new = np.sort(np.concatenate([self._runs.pop(), new]), kind="stable")
        if len(new):
            self._runs.append(new)
        return is_new
