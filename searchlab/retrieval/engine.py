"""Which documents answer a query best?

An engine searches one snapshot of an index. A query is analysed as the documents were; a document is a
candidate if it has at least one of the query's terms; scores are exact, and equal scores are ordered by docno,
descending in byte order, as trec_eval orders them: the ranking shown is the ranking evaluated.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.columns import STREAMS
from searchlab.indexing.places import resolve
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.strings import Array
from searchlab.records import Document
from searchlab.retrieval.numbers import Numbers, Plan
from searchlab.retrieval.results import Explanation, Hits, Part, Query, QueryTerm
from searchlab.retrieval.scorers import BM25, BM25F, Scorer
from searchlab.retrieval.shapes import gain

# Some documents of a shard, and their scores.
Found = tuple[Array, Array]


def open(name: str | Path, *, compiled: bool = True) -> SearchEngine:
    """Open an index, by its folder or by its name in `indexes/`, for searching."""
    return SearchEngine(resolve(name), compiled=compiled)


class SearchEngine:
    """Search over one snapshot of an index.

    `compiled=False` does without the compiled kernels: a search takes some milliseconds more, but the first
    one need not wait half a second for numba. Both ways give the same results.
    """

    def __init__(self, folder: str | Path, *, compiled: bool = True) -> None:
        self.snapshot = Snapshot(Path(folder))
        self._numbers = Numbers(self.snapshot)
        self._compiled = compiled
        self._threads = threading.local()

    def __repr__(self) -> str:
        return f"<SearchEngine {self.snapshot.folder}: {len(self)} documents>"

    def __len__(self) -> int:
        return self.snapshot.n_docs

    def __enter__(self) -> SearchEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index; an engine that is forgotten does so too, in time."""
        self.snapshot.close()

    def document(self, docno: str) -> Document:
        """A document by its name."""
        return self.snapshot.document(docno)

    def search(
        self, query: str | Query, *, k: int | None = 10, scorer: Scorer | None = None, stream: str = "both"
    ) -> Hits:
        """The k best documents for a query; k=None gives all that match."""
        began = time.perf_counter()
        scorer = scorer or BM25()
        if k is not None and k < 1:
            raise SettingError(f"k is {k}, expected 1 or more")
        parsed = query if isinstance(query, Query) else self.parse(query, scorer, stream)
        limit = len(self) if k is None else min(k, len(self))
        shards = docs = np.zeros(0, np.int64)
        scores = np.zeros(0)
        if parsed.terms:
            pieces = list(self._find(parsed, limit, scorer, stream))
            shards = np.repeat(np.arange(len(pieces)), [len(found) for found, _ in pieces])
            docs = np.concatenate([found for found, _ in pieces])
            scores = np.concatenate([own for _, own in pieces])
        order = self._best_first(shards, docs, scores, limit)
        seconds = time.perf_counter() - began
        return Hits(self.snapshot, parsed, shards[order], docs[order], scores[order], seconds)

    def parse(self, query: str, scorer: Scorer | None = None, stream: str = "both") -> Query:
        """The terms of a query, in the order of their first occurrence."""
        if stream not in STREAMS:
            raise unknown_name("stream", stream, STREAMS)
        if isinstance(scorer, BM25F) and stream != "both":
            raise SettingError(f"bm25f weighs the fields itself: expected stream both, found {stream}")
        known, unknown = [], set()
        for text, count in Counter(self.snapshot.analyzer.terms(query)).items():
            stats = self.snapshot.term_stats(stream, text)
            if stats.doc_freq:
                known.append(QueryTerm(text, count, stats))
            else:
                unknown.add(text)
        words = self._words_of(unknown, query) if unknown else ()
        return Query(query, tuple(known), words)

    def _words_of(self, terms: set[str], query: str) -> tuple[str, ...]:
        """The words of a query that gave these terms, as they stand there."""
        spans = self.snapshot.analyzer.spans(query)
        return tuple(dict.fromkeys(query[span.start : span.end] for span in spans if span.term in terms))

    def explain(
        self, query: str | Query, docno: str, *, scorer: Scorer | None = None, stream: str = "both"
    ) -> Explanation:
        """What each term of the query adds to the score of a document."""
        scorer = scorer or BM25()
        parsed = query if isinstance(query, Query) else self.parse(query, scorer, stream)
        place, doc = self.snapshot.locate(docno)
        column = self._numbers.column(place, stream)
        parts = []
        for term in parsed.terms:
            extent = self._numbers.extents(stream, term.text)[place]
            docs, tfs, (start,), (end,), *_ = self._numbers.postings(place, scorer, stream, [extent])
            at = start + int(np.searchsorted(docs[start:end], doc))
            tf = tfs[at].item() if at < end and docs[at] == doc else 0
            weight = scorer.weigh(tf, int(column.lengths[doc]), term.stats, int(column.uniques[doc]))
            parts.append(Part(term.text, term.count, tf, term.count * float(weight)))
        return Explanation(docno, tuple(parts))

    def _find(self, query: Query, limit: int, scorer: Scorer, stream: str) -> Iterator[Found]:
        plan = self._numbers.plan(query, scorer, stream)
        if self._compiled and scorer.gains_are_positive:
            return self._find_best(plan, limit, scorer, stream)
        return self._find_all(plan, scorer, stream)

    def _find_all(self, plan: Plan, scorer: Scorer, stream: str) -> Iterator[Found]:
        """Every matching document of each shard, by NumPy."""
        for place, own in enumerate(self._numbers.of_docs(scorer, stream)):
            docs, tfs, starts, ends, *_ = self._numbers.postings(
                place, scorer, stream, [extents[place] for extents in plan.extents]
            )
            alive = self.snapshot.shards[place].alive
            sums = np.zeros(len(own.norm_codes))
            matched = np.zeros(len(sums), bool)
            for t, (start, end) in enumerate(zip(starts, ends, strict=True)):
                term_docs, tf = docs[start:end], tfs[start:end].astype(float)
                norm = own.norm_table[own.norm_codes[term_docs]]
                sums[term_docs] += gain(scorer.shape, tf, plan.weights[t], plan.factors[t], norm, scorer.shift)
                matched[term_docs] = True
            found = np.flatnonzero(matched if alive is None else matched & alive)
            scores = sums[found] + plan.background
            if len(own.biases):
                scores += plan.n_words * own.biases[found]
            yield found, scores

    def _find_best(self, plan: Plan, limit: int, scorer: Scorer, stream: str) -> Iterator[Found]:
        """Each shard's candidates for the best, by the compiled kernel."""
        from searchlab.retrieval.kernels import Scratch, best_documents

        doc_numbers = self._numbers.of_docs(scorer, stream)
        if not hasattr(self._threads, "scratch"):
            self._threads.scratch = Scratch.make(max(shard.columns.n_docs for shard in self.snapshot.shards))
        scratch: Scratch = self._threads.scratch
        scratch.histogram[:] = 0
        lowest = plan.background + plan.n_words * min(own.lowest_bias for own in doc_numbers)
        top_bias = plan.background + plan.n_words * max(own.highest_bias for own in doc_numbers)
        most = float(plan.bounds.sum())
        for place, own in enumerate(doc_numbers):
            yield best_documents(
                *self._numbers.postings(place, scorer, stream, [extents[place] for extents in plan.extents]),
                plan.weights,
                plan.factors,
                plan.bounds,
                own.norm_table,
                own.norm_codes,
                own.biases,
                plan.n_words,
                plan.background,
                scorer.shape,
                float(scorer.shift),
                limit,
                lowest,
                top_bias,
                most,
                scratch,
            )

    def _best_first(self, shards: Array, docs: Array, scores: Array, limit: int) -> Array:
        """The places of the best: by score, and by docno (descending) where scores are equal."""
        order = np.argsort(-scores)
        ranked = scores[order]
        if limit < len(order):
            last = int(np.searchsorted(-ranked, -ranked[limit - 1], "right"))
            order, ranked = order[:last], ranked[:last]
        differs = ranked[1:] != ranked[:-1]
        if differs.all():
            return order
        # One number says it all: first the group of equal scores, then the docno's standing, from the last.
        groups = np.zeros(len(order), np.int64)
        np.cumsum(differs, out=groups[1:])
        standings = self._standings(shards[order], docs[order])
        n_standings = sum(shard.columns.n_docs for shard in self.snapshot.shards)
        return order[np.argsort(groups * n_standings - standings)][:limit]

    def _standings(self, shards: Array, docs: Array) -> Array:
        """Numbers that order documents as their docnos do."""
        if self._compiled or len(self.snapshot.shards) == 1:
            return self.snapshot.standing(shards, docs)
        columns = [shard.columns.docnos for shard in self.snapshot.shards]
        docnos = [columns[s].bytes_at(d) for s, d in zip(shards.tolist(), docs.tolist(), strict=True)]
        standings = np.empty(len(docs), np.int64)
        standings[sorted(range(len(docnos)), key=docnos.__getitem__)] = np.arange(len(docnos))
        return standings
