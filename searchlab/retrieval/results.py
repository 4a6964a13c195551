"""What does a search give back?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document, QueryTerm
from searchlab.retrieval.highlight.snippets import Snippet, make_snippet, mark_line
from searchlab.retrieval.query.tree import Node
from searchlab.scorers.execution.bound_scorer import TermContribution
from searchlab.types import Array

# So many documents are read together.
AT_ONCE = 16


@dataclass(frozen=True)
class Query:
    """A query as the index understands it: the terms that score, and the tree that documents have to match.

    Without a tree (`node`), a document has to have one of the terms. `unknown` are words that no document has,
    `remarks` tell how the query was understood if not as written.
    """

    text: str
    terms: tuple[QueryTerm, ...]
    unknown: tuple[str, ...]
    node: Node | None = None
    remarks: tuple[str, ...] = ()
    suggest: Callable[[str], str | None] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def to_mark(self) -> frozenset[str]:
        """The terms that title or body may have, which are marked there."""
        return frozenset(variant for term in self.terms if term.stream in STREAMS for variant in term.variants)

    @cached_property
    def suggestions(self) -> tuple[tuple[str, str], ...]:
        """Unknown words with the known word that is nearest; looked for when they are first asked for."""
        if self.suggest is None:
            return ()
        pairs = [(word, self.suggest(word)) for word in self.unknown]
        return tuple((word, nearest) for word, nearest in pairs if nearest is not None)


@dataclass(frozen=True)
class Hit:
    """One search result; `snippet` is a passage of the body, `marked_title` the whole title."""

    rank: int
    score: float
    document: Document
    snippet: Snippet
    marked_title: Snippet

    @property
    def docno(self) -> str:
        """The document's name."""
        return self.document.docno

    @property
    def title(self) -> str:
        """The document's title."""
        return self.document.title


class Hits(Sequence[Hit]):
    """Search results, best first; documents are read from the index when they are looked at."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: Query,
        shards: Array,
        docs: Array,
        scores: Array,
        seconds: float,
        *,
        compiled: bool = False,
    ) -> None:
        self._snapshot = snapshot
        # Where each document stands: its shard, and its number there.
        self.shards = shards
        self.docs = docs
        self.query = query
        self.scores = scores
        self.seconds = seconds
        # Whether snippets are made by compiled code.
        self.compiled = compiled

    def __repr__(self) -> str:
        return f"<Hits for {self.query.text!r}: {len(self)} documents>"

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, place: int) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...

    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        if isinstance(place, slice):
            return list(self._hits(place))
        place = range(len(self))[place]
        return next(self._hits(slice(place, place + 1)))

    def _hits(self, own: slice) -> Iterator[Hit]:
        places = range(len(self))[own]
        for begin in range(0, len(places), AT_ONCE):
            some = places[begin : begin + AT_ONCE]
            documents = [self._snapshot.shards[self.shards[place]].document(int(self.docs[place])) for place in some]
            for place, document, marked in zip(some, documents, self._mark(documents), strict=True):
                yield Hit(place + 1, float(self.scores[place]), document, *marked)

    def _mark(self, documents: list[Document]) -> Iterable[tuple[Snippet, Snippet]]:
        """A passage of the body and the title of each document, with the words that matched."""
        if self.compiled:
            from searchlab.retrieval.highlight.passages import Finder

            finder = Finder(self._snapshot, self.query.to_mark)
            return finder.mark([document.body for document in documents], [document.title for document in documents])
        terms, analyzer = self.query.to_mark, self._snapshot.analyzer
        return (
            (make_snippet(document.body, terms, analyzer), mark_line(document.title, terms, analyzer))
            for document in documents
        )

    def __iter__(self) -> Iterator[Hit]:
        return self._hits(slice(None))

    @cached_property
    def docnos(self) -> list[str]:
        """The names of the documents found, without reading the documents."""
        names = np.empty(len(self), object)
        for place, shard in enumerate(self._snapshot.shards):
            own = np.flatnonzero(self.shards == place)
            names[own] = shard.columns.docnos.take(self.docs[own])
        docnos: list[str] = names.tolist()
        return docnos


@dataclass(frozen=True)
class Explanation:
    """A document's score as the sum of its parts."""

    docno: str
    parts: tuple[TermContribution, ...]

    @property
    def score(self) -> float:
        """The sum."""
        return sum(part.weight for part in self.parts)
