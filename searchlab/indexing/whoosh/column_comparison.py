"""Comparison of a shard's Whoosh index with its columns.

Compared are the stored docnos, the document frequency and number of occurrences of every term
of title and body, and the postings: of all terms or of a random sample, since Whoosh reads no more than some hundred
thousand postings a second. Positions are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.indexing.storage.columns import ShardColumns
from searchlab.indexing.storage.streams import Stream
from searchlab.indexing.whoosh.shard_reader import open_whoosh
from searchlab.types import Array

# The texts that are indexed fields in Whoosh.
WHOOSH_TEXTS = ("title", "body")
SEED = 42
# Documents between two progress reports.
PROGRESS_STEP = 1000

# Called with the work done since the last call.
Tick = Callable[[int], None]


class WhooshMismatch(NamedTuple):
    """A difference: the part of the shard that it is in, and what differs."""

    part: str
    problem: str


Comparison = Iterator[WhooshMismatch]


def count_postings(columns: ShardColumns) -> int:
    """The number of postings that Whoosh should have."""
    return sum(len(columns.streams[field].docs) for field in WHOOSH_TEXTS)


def compare_contents(
    folder: Path, settings: AnalysisSettings, columns: ShardColumns, tick: Tick
) -> WhooshMismatch | None:
    """Compare the stored docnos and the statistics of all terms; `tick` counts documents."""
    return _first_mismatch(
        folder,
        settings,
        columns,
        lambda reader: chain(_compare_docnos(reader, columns, tick), _compare_terms(reader, columns)),
    )


def compare_postings(
    folder: Path, settings: AnalysisSettings, columns: ShardColumns, share: float, tick: Tick
) -> WhooshMismatch | None:
    """Compare the postings of sampled terms, about `share` of all postings; `tick` counts postings."""
    return _first_mismatch(folder, settings, columns, lambda reader: _compare_postings(reader, columns, share, tick))


def _first_mismatch(
    folder: Path, settings: AnalysisSettings, columns: ShardColumns, compare: Callable[[Any], Comparison]
) -> WhooshMismatch | None:
    """The first difference; one cause usually makes many."""
    try:
        with open_whoosh(folder, settings, columns.n_docs) as reader:
            return next(compare(reader), None)
    except Exception as error:  # damaged bytes can raise anything in Whoosh and zlib
        return WhooshMismatch(folder.name, f"cannot be read ({error or type(error).__name__})")


def _compare_docnos(reader: Any, columns: ShardColumns, tick: Tick) -> Comparison:
    for number in range(columns.n_docs):
        stored, docno = reader.stored_fields(number)["docno"], columns.docnos[number]
        if stored != docno:
            yield WhooshMismatch("whoosh", f"document {number} is {stored!r}, but {docno!r} in the columns")
        if number % PROGRESS_STEP == PROGRESS_STEP - 1:
            tick(PROGRESS_STEP)
    tick(columns.n_docs % PROGRESS_STEP)


def _compare_terms(reader: Any, columns: ShardColumns) -> Comparison:
    names = columns.terms.take(np.arange(len(columns.terms)))
    for field in WHOOSH_TEXTS:
        column = columns.streams[field]
        used = _occurring_terms(column)
        doc_freqs, weights = (
            np.diff(column.offsets.whole)[used],
            column.counts[used].astype(np.float32),
        )  # as Whoosh has them
        ours = zip([names[number] for number in used], doc_freqs.tolist(), weights.tolist(), strict=True)
        items = reader.iter_field(field)
        theirs = ((text.decode(), info.doc_frequency(), info.weight()) for text, info in items)
        for our, their in zip_longest(ours, theirs):
            if our != their:
                yield WhooshMismatch(
                    "whoosh", f"{field}: {_describe_term(their)}, but {_describe_term(our)} in the columns"
                )


def _describe_term(term: tuple[str, int, float] | None) -> str:
    return "no further term" if term is None else f"{term[0]!r} occurs {term[2]:.0f} times in {term[1]} documents"


def _compare_postings(reader: Any, columns: ShardColumns, share: float, tick: Tick) -> Comparison:
    rng = np.random.default_rng(SEED)
    for field in WHOOSH_TEXTS:
        column = columns.streams[field]
        for number in _sample_terms(column, share, rng).tolist():
            rows = slice(int(column.offsets[number]), int(column.offsets[number + 1]))
            postings = _read_postings(reader.postings(field, columns.terms.bytes_at(number)))
            if postings != (column.docs[rows].tolist(), column.tfs[rows].tolist()):
                yield WhooshMismatch(
                    "whoosh", f"{field}: the postings of {columns.terms[number]!r} are not those of the columns"
                )
            tick(rows.stop - rows.start)


def _read_postings(matcher: Any) -> tuple[list[int], list[float]]:
    """The documents and weights of a term, read by Whoosh's matcher."""
    docs, weights = [], []
    while matcher.is_active():
        docs.append(matcher.id())
        weights.append(matcher.weight())
        matcher.next()
    return docs, weights


def _occurring_terms(column: Stream) -> Array:
    """The numbers of the terms that occur in a text."""
    return np.flatnonzero(np.diff(column.offsets.whole))


def _sample_terms(column: Stream, share: float, rng: np.random.Generator) -> Array:
    """A random sample of terms with about this share of all postings."""
    if share >= 1:
        return _occurring_terms(column)
    shuffled = rng.permutation(_occurring_terms(column))
    return shuffled[: np.searchsorted(np.cumsum(np.diff(column.offsets.whole)[shuffled]), share * len(column.docs)) + 1]
