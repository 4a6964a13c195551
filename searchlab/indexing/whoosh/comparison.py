"""Does Whoosh say the same of a shard as its columns?

Compared are the stored documents (their docnos, and their digests), for every term of title and body in how many
documents it occurs and how often, and the postings themselves: of all terms, or of some that are drawn, since
Whoosh reads no more than some hundred thousand postings a second. Positions are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from searchlab.indexing.storage.columns import ShardColumns
from searchlab.indexing.storage.digest import digest
from searchlab.indexing.storage.streams import Stream
from searchlab.indexing.whoosh.stored_documents import WhooshShard
from searchlab.types import Array

# The texts that Whoosh has as fields of its own.
FIELDS = ("title", "body")
SEED = 42
# Documents, or terms, between two signs of progress.
STEP = 1000

# Called as work goes on, with how much was done since the last call.
Tick = Callable[[int], None]


class Disagreement(NamedTuple):
    """What differs: the part of the shard, and how."""

    part: str
    problem: str


Comparison = Iterator[Disagreement]


def count_postings(columns: ShardColumns) -> int:
    """How many postings Whoosh should have in all."""
    return sum(len(columns.streams[field].docs) for field in FIELDS)


def compare_contents(folder: Path, columns: ShardColumns, tick: Tick) -> Disagreement | None:
    """Compare the stored documents, and the statistics of all terms; `tick` counts documents."""
    return _first(folder, lambda reader: chain(_documents(reader, columns, tick), _terms(reader, columns)))


def compare_postings(folder: Path, columns: ShardColumns, share: float, tick: Tick) -> Disagreement | None:
    """Compare the postings of terms that are drawn, about this share of all postings; `tick` counts postings."""
    return _first(folder, lambda reader: _postings(reader, columns, share, tick))


def _first(folder: Path, compare: Callable[[WhooshShard], Comparison]) -> Disagreement | None:
    """The first thing that differs: what is written wrongly differs in many places."""
    with closing(WhooshShard(folder)) as whoosh:
        try:
            return next(compare(whoosh), None)
        except Exception as error:  # whatever bytes that Whoosh did not write make of it, of zlib and of pickle
            return Disagreement(folder.name, f"cannot be read ({error or type(error).__name__})")


def _documents(whoosh: WhooshShard, columns: ShardColumns, tick: Tick) -> Comparison:
    n_docs = whoosh.reader.doc_count()
    if n_docs != columns.n_docs:
        yield Disagreement("whoosh", f"{n_docs} documents, but {columns.n_docs} in the columns")
    for number in range(columns.n_docs):
        document, docno = whoosh.document(number), columns.docnos[number]
        if document.docno != docno:
            yield Disagreement("whoosh", f"document {number} is {document.docno!r}, but {docno!r} in the columns")
        if digest(document) != columns.digests[number].tobytes():
            yield Disagreement("columns", f"digests is not what {docno!r} has as Whoosh stored it")
        if number % STEP == STEP - 1:
            tick(STEP)
    tick(columns.n_docs % STEP)


def _terms(whoosh: WhooshShard, columns: ShardColumns) -> Comparison:
    names = columns.terms.take(np.arange(len(columns.terms)))
    for field in FIELDS:
        column = columns.streams[field]
        used = _used(column)
        doc_freqs, weights = np.diff(column.offsets)[used], column.counts[used].astype(np.float32)  # as Whoosh has them
        ours = zip([names[number] for number in used], doc_freqs.tolist(), weights.tolist(), strict=True)
        items = whoosh.reader.iter_field(field)
        theirs = ((text.decode(), info.doc_frequency(), info.weight()) for text, info in items)
        for our, their in zip_longest(ours, theirs):
            if our != their:
                yield Disagreement("whoosh", f"{field}: {_tell(their)}, but {_tell(our)} in the columns")


def _tell(term: tuple[str, int, float] | None) -> str:
    return "no further term" if term is None else f"{term[0]!r} occurs {term[2]:.0f} times in {term[1]} documents"


def _postings(whoosh: WhooshShard, columns: ShardColumns, share: float, tick: Tick) -> Comparison:
    rng = np.random.default_rng(SEED)
    for field in FIELDS:
        column = columns.streams[field]
        for number in _draw(column, share, rng).tolist():
            own = slice(int(column.offsets[number]), int(column.offsets[number + 1]))
            found = _read(whoosh.reader.postings(field, columns.terms.bytes_at(number)))
            if found != (column.docs[own].tolist(), column.tfs[own].tolist()):
                yield Disagreement(
                    "whoosh", f"{field}: other postings of {columns.terms[number]!r} than in the columns"
                )
            tick(own.stop - own.start)


def _read(matcher: Any) -> tuple[list[int], list[float]]:
    """The documents and weights of a term, as Whoosh's own matcher reads them."""
    docs, weights = [], []
    while matcher.is_active():
        docs.append(matcher.id())
        weights.append(matcher.weight())
        matcher.next()
    return docs, weights


def _used(column: Stream) -> Array:
    """The numbers of the terms that occur in a text."""
    return np.flatnonzero(np.diff(column.offsets))


def _draw(column: Stream, share: float, rng: np.random.Generator) -> Array:
    """Terms that have about a share of all postings."""
    if share >= 1:
        return _used(column)
    mixed = rng.permutation(_used(column))
    return mixed[: np.searchsorted(np.cumsum(np.diff(column.offsets)[mixed]), share * len(column.docs)) + 1]
