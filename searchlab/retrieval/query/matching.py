"""Matching: the documents of a shard that match a syntax tree and pass filters.

Every node gives a boolean array over the documents. A leaf that asks for nothing, such as a stop word, drops out of
its group, and so does a group without any other part: it gives None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import iand, ior

import numpy as np

from searchlab.indexing.phrases import find_phrase
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.query_analyzer import QueryAnalyzer
from searchlab.retrieval.query.ranges import find_in_range
from searchlab.retrieval.query.syntax_tree import (
    DOCNO,
    And,
    BooleanClauses,
    Boost,
    Fuzzy,
    Node,
    Not,
    Or,
    Phrase,
    Range,
    Wildcard,
    Word,
)
from searchlab.retrieval.query.term_patterns import match_strings
from searchlab.retrieval.results import Query
from searchlab.scorers.execution.collection_statistics import Variants
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.types import Array

_NONE = np.zeros(0, np.int64)


class Matcher:
    """Finds the matching documents of one shard; words without a field are looked up in `stream`."""

    def __init__(self, reader: IndexReader, analyzer: QueryAnalyzer, shard_index: int, stream: str) -> None:
        self._reader = reader
        self._analyzer = analyzer
        self._patterns = analyzer.patterns
        self._shard_index = shard_index
        self._stream = stream
        self._alive = reader.snapshot.shards[shard_index].live
        self._columns = reader.snapshot.shards[shard_index].columns

    def candidates(self, query: Query, filters: Iterable[Filter], further: Array, *, every_document: bool) -> Array:
        """For each document, whether it is live, passes all filters, and matches the query.

        A query without a tree matches documents that have any of its terms, `further` documents or, on demand, every
        document.
        """
        if query.node is not None:
            found = self._match(query.node)
            matched = self._mark(_NONE) if found is None else found
        elif every_document:
            matched = np.ones(self._columns.n_docs, bool)
        else:
            having = [self._documents_with(self._stream, term.variants) for term in query.terms]
            matched = self._mark(np.concatenate([*having, further]))
        if self._alive is not None:
            matched = matched & self._alive
        for each in filters:
            matched &= self._passing(each)
        return matched

    def _mark(self, docs: Array) -> Array:
        """An array that is true for some documents."""
        marked = np.zeros(self._columns.n_docs, bool)
        marked[docs] = True
        return marked

    def _documents_with(self, stream: str, variants: Variants) -> Array:
        return self._reader.occurrences(self._shard_index, stream, variants)[0]

    def _passing(self, wanted: Filter) -> Array:
        """For each document, whether it passes a filter."""
        if wanted.range is not None:
            return self._mark(find_in_range(self._columns, wanted.range))
        if wanted.field == DOCNO:
            return self._mark(self._named(wanted.value))
        return self._mark(self._columns.fields.with_value(wanted.field, wanted.value))

    def _match(self, node: Node) -> Array | None:
        match node:
            case And(parts):
                return self._all(parts)
            case Or(parts):
                return self._any(parts)
            case Not(part):
                found = self._match(part)
                return None if found is None else ~found
            case Boost(part):
                return self._match(part)
            case BooleanClauses(must, should, must_not):
                required = self._all(must)
                if required is None:
                    required = self._any(should)
                excluded = self._any(must_not)
                if required is None or excluded is None:
                    return required if excluded is None else ~excluded
                return required & ~excluded
            case Range():
                return self._mark(find_in_range(self._columns, node))
            case _:
                found = self._docno(node) if node.field == DOCNO else self._words(node)
                return None if found is None else self._mark(found)

    def _all(self, parts: Iterable[Node]) -> Array | None:
        found = [part for part in map(self._match, parts) if part is not None]
        return reduce(iand, found) if found else None

    def _any(self, parts: Iterable[Node]) -> Array | None:
        found = [part for part in map(self._match, parts) if part is not None]
        return reduce(ior, found) if found else None

    def _words(self, leaf: Word | Phrase | Wildcard | Fuzzy) -> Array | None:
        """The documents that have a leaf's words in their text."""
        name = leaf.field or self._stream
        if isinstance(leaf, Wildcard | Fuzzy):
            variants = self._patterns.expand(leaf, name).terms
            return self._documents_with(name, variants) if variants else _NONE
        phrases = self._analyzer.phrases(leaf.text, name)
        if not phrases:
            return None
        found = [self._phrase(leaf, name, terms) for terms in phrases]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _phrase(self, leaf: Word | Phrase, name: str, terms: Sequence[str]) -> Array:
        """The documents that have these terms, one behind the other."""
        if len(terms) == 1:
            return self._documents_with(name, (terms[0],))
        text = self._columns.text(name)
        numbers = [self._reader.locate_term(name, term)[self._shard_index].number for term in terms]
        if text is None or min(numbers) < 0:
            return _NONE
        return find_phrase(text, numbers, leaf.slop if isinstance(leaf, Phrase) else 1)

    def _docno(self, leaf: Word | Phrase | Wildcard | Fuzzy) -> Array:
        """The documents with a matching docno, which is compared as written."""
        if isinstance(leaf, Word | Phrase):
            return self._named(leaf.text)
        return match_strings(self._columns.docnos, range(self._columns.n_docs), leaf, leaf.text)

    def _named(self, docno: str) -> Array:
        doc = self._columns.docnos.find(docno)
        return np.array([doc] if doc >= 0 else [], np.int64)
