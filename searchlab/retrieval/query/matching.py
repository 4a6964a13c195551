"""Which documents of a shard match a tree?

Every node gives an array that says of each document whether it matches. A leaf that asks for nothing, a stop word,
drops out of its group, and so does a group that nothing is left of: it gives None.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import iand, ior

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.lexicon import DOCNO, Lexicon, matching_strings
from searchlab.retrieval.query.phrases import with_phrase
from searchlab.retrieval.query.ranges import within
from searchlab.retrieval.query.tree import And, Boost, Fuzzy, Node, Not, Or, Pattern, Phrase, Range, Some, Word
from searchlab.scorers.execution.index_reader import Numbers
from searchlab.types import Array

_NONE = np.zeros(0, np.int64)


class Matcher:
    """Evaluates trees over one shard; words without a field are looked for in `stream`."""

    def __init__(self, snapshot: Snapshot, place: int, numbers: Numbers, lexicon: Lexicon, stream: str) -> None:
        self._place = place
        self._numbers = numbers
        self._lexicon = lexicon
        self._stream = stream
        self._alive = snapshot.shards[place].alive
        self._columns = snapshot.shards[place].columns

    def matches(self, node: Node) -> Array:
        """For each document, whether it is alive and matches; a tree that asks for nothing matches nothing."""
        found = self._match(node)
        return self.mark(_NONE) if found is None else self.living(found)

    def living(self, matched: Array) -> Array:
        """What matched, without dead documents."""
        return matched if self._alive is None else matched & self._alive

    def mark(self, docs: Array) -> Array:
        """An array that is true for some documents."""
        marked = np.zeros(self._columns.n_docs, bool)
        marked[docs] = True
        return marked

    def passing(self, asked: Filter) -> Array:
        """For each document, whether it passes a filter."""
        if asked.range is not None:
            return self.mark(within(self._columns, asked.range))
        if asked.field == DOCNO:
            return self.mark(self._named(asked.value))
        return self.mark(self._columns.fields.with_value(asked.field, asked.value))

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
            case Some(must, may, must_not):
                wanted = self._all(must)
                if wanted is None:
                    wanted = self._any(may)
                refused = self._any(must_not)
                if wanted is None or refused is None:
                    return wanted if refused is None else ~refused
                return wanted & ~refused
            case Range():
                return self.mark(within(self._columns, node))
            case _:
                found = self._docno(node) if node.field == DOCNO else self._words(node)
                return None if found is None else self.mark(found)

    def _all(self, parts: Iterable[Node]) -> Array | None:
        found = [part for part in map(self._match, parts) if part is not None]
        return reduce(iand, found) if found else None

    def _any(self, parts: Iterable[Node]) -> Array | None:
        found = [part for part in map(self._match, parts) if part is not None]
        return reduce(ior, found) if found else None

    def _words(self, leaf: Word | Phrase | Pattern | Fuzzy) -> Array | None:
        """The documents that have a leaf's words in their text."""
        name = leaf.field or self._stream
        if isinstance(leaf, Pattern | Fuzzy):
            variants = self._lexicon.expand(leaf, name).terms
            return self._numbers.occurrences(self._place, name, variants)[0] if variants else _NONE
        terms = self._lexicon.terms(leaf.text)
        if not terms:
            return None
        if len(terms) == 1:
            return self._numbers.occurrences(self._place, name, (terms[0],))[0]
        text = self._columns.text(name)
        places = [self._numbers.extents(name, term)[self._place].number for term in terms]
        if text is None or min(places) < 0:
            return _NONE
        return with_phrase(text, places, leaf.slop if isinstance(leaf, Phrase) else 1)

    def _docno(self, leaf: Word | Phrase | Pattern | Fuzzy) -> Array:
        """The documents with a docno like this, which is compared as it is written."""
        if isinstance(leaf, Word | Phrase):
            return self._named(leaf.text)
        return matching_strings(self._columns.docnos, range(self._columns.n_docs), leaf, leaf.text)

    def _named(self, docno: str) -> Array:
        doc = self._columns.docnos.find(docno)
        return np.array([doc] if doc >= 0 else [], np.int64)
