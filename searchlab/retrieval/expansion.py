"""Which words should a query have had?

Documents that answer a query well are full of words that the query lacks. A relevance model reads them off the best
documents of a first search, without asking anyone whether these are relevant, and the query is searched again with
them. In the same way the most telling words of one document make a query for documents like it.

Either gives a `Query` whose terms have weights in the place of counts, to be searched as any other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt, SettingError, unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import QueryTerm, TermStats
from searchlab.retrieval.results import Hits, Query
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.scorers.base import Scorer

# A model of more documents is that of the collection, and a query of more terms is a document.
MOST_DOCUMENTS = MOST_TERMS = 1000


@dataclass(frozen=True)
class RM3:
    """A query mixed with the relevance model of its best documents (Lavrenko, Croft 2001; Abdul-Jaleel et al. 2004).

    weight(w) = |Q| · (λ·P(w|Q) + (1 - λ)·P(w|R)),   λ = `weight`, P(w|Q) = count/|Q|, |Q| the query's words
    P(w|R) ∝ Σ P(w|d)·P(Q|d)   over the best `documents` of a first search, P(w|d) = tf/|d|
    P(Q|d) ∝ exp(score(d)/√|Q|)

    P(w|R) is kept for the `terms` words of largest P(w|R)·ln((N + 1)/df), and scaled to sum to 1 over these. So the
    weights sum to |Q|, scores keep their size, and λ = 1 is the query itself.

    Deviations, each chosen by measuring on five collections:
    - By the papers P(Q|d) is exp(score) of a language model. But words do not occur independently: for a long query
      that lets one document speak for all. The root softens it. Other scorers are treated alike, as if their scores
      were logarithms too; taken as they are, which is Anserini's way, they make the documents nearly equal.
    - The papers smooth P(w|d). A little changes nothing, and much lets the collection's frequent words crowd in.
    - The papers choose words by P(w|R) alone; idf keeps those out that all documents have. Anserini's filters (no
      digits, no single letters, no word that a tenth of the documents have) then gain nothing.
    """

    documents: int = 10
    terms: int = 20
    weight: float = 0.5

    def __post_init__(self) -> None:
        _require_count("RM3: documents", self.documents, MOST_DOCUMENTS)
        _require_count("RM3: terms", self.terms, MOST_TERMS)
        if isinstance(self.weight, bool) or not isinstance(self.weight, int | float) or not 0 <= self.weight <= 1:
            raise SettingError(f"RM3: weight is {self.weight!r}, expected a number from 0 to 1")

    def expand(
        self, engine: SearchEngine, query: str | Query, *, scorer: Scorer | None = None, stream: str = "both"
    ) -> Query:
        """The query with words of its best documents; a query that finds nothing stays as it is."""
        _require_stream(stream)
        return self.learn(engine, engine.search(query, k=self.documents, scorer=scorer, stream=stream), stream=stream)

    def learn(self, engine: SearchEngine, hits: Hits, *, stream: str = "both") -> Query:
        """The same from a first search that has been made already, filtered or not."""
        _require_stream(stream)
        n_words = sum(term.count for term in hits.query.terms)
        if not len(hits) or not n_words:
            return hits.query
        texts, shares = self._relevance_model(engine.snapshot, hits, n_words, stream)
        chosen = _choose(engine.snapshot, stream, texts, shares, self.terms, _plain_idf)
        if not chosen:  # what matched is another text, such as a field
            return hits.query
        total = sum(chosen.values())
        # A term without its count is the same in the query and in the documents.
        weights: defaultdict[QueryTerm, float] = defaultdict(float)
        for term in hits.query.terms:
            weights[replace(term, count=0.0)] += self.weight * term.count
        for term, share in chosen.items():
            weights[term] += (1 - self.weight) * n_words * share / total
        terms = [replace(term, count=weight) for term, weight in weights.items() if weight > 0]
        return replace(hits.query, terms=tuple(terms))

    def _relevance_model(self, snapshot: Snapshot, hits: Hits, n_words: float, stream: str) -> tuple[list[str], Array]:
        """The terms of the best documents, and P(w|R) of each."""
        scores = hits.scores[: self.documents]
        beliefs = np.exp((scores - scores.max()) / math.sqrt(n_words))
        beliefs /= beliefs.sum()
        # Each shard has its own numbers for terms. Sums are formed in the order of the hits, whatever the shards.
        numbers: dict[str, int] = {}
        places, shares = [], []
        for place, doc, belief in zip(hits.shards.tolist(), hits.docs.tolist(), beliefs.tolist(), strict=False):
            texts, tfs = _count_terms(snapshot, place, doc, stream)
            places += [numbers.setdefault(text, len(numbers)) for text in texts]
            shares.append(belief * tfs / tfs.sum())
        return list(numbers), np.bincount(np.array(places, np.int64), np.concatenate(shares))


def similar_query(engine: SearchEngine, docno: str, *, terms: int = 25, stream: str = "both") -> Query:
    """A query for documents like one that is given; that one is found, too (after Lucene's MoreLikeThis).

    Its terms are those of largest tf · (1 + ln((N + 1)/(df + 1))), each counted tf times.

    Deviations: Lucene demands tf ≥ 2 and df ≥ 5, which leaves nothing of a short text; here terms are left out only
    if no other document has them. Lucene can weigh terms by tf·idf; scorers know idf already, and twice is worse
    (measured).
    """
    _require_stream(stream)
    _require_count("terms", terms, MOST_TERMS)
    texts, tfs = _count_terms(engine.snapshot, *engine.snapshot.locate(docno), stream)
    chosen = _choose(engine.snapshot, stream, texts, tfs, terms, _lucene_idf)
    return Query(f"like {docno}", tuple(replace(term, count=tf) for term, tf in chosen.items()), ())


def _require_count(name: str, value: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SettingError(f"{name} is {value!r}, expected a whole number from 1 to {most}")


def _require_stream(stream: str) -> None:
    if stream not in STREAMS:
        raise unknown_name("stream", stream, STREAMS)


def _plain_idf(stats: TermStats) -> float:
    return math.log((stats.n_docs + 1) / stats.doc_freq)


def _lucene_idf(stats: TermStats) -> float:
    return 1 + math.log((stats.n_docs + 1) / (stats.doc_freq + 1)) if stats.doc_freq > 1 else 0.0


def _count_terms(snapshot: Snapshot, place: int, doc: int, stream: str) -> tuple[list[str], Array]:
    """The distinct terms of a document, given by shard and number, and how often it has them."""
    shard = snapshot.shards[place]
    columns = shard.columns
    start, end = columns.token_offsets[doc : doc + 2].tolist()
    middle = start + int(columns.streams["title"].lengths[doc])
    own = {"title": slice(start, middle), "body": slice(middle, end), "both": slice(start, end)}[stream]
    numbers, tfs = np.unique(columns.tokens[own], return_counts=True)
    try:
        return columns.terms.take(numbers), tfs
    except (IndexError, UnicodeDecodeError):
        raise IndexCorrupt(f"{shard.folder}: tokens are damaged; {REBUILD}") from None


def _choose(
    snapshot: Snapshot,
    stream: str,
    texts: list[str],
    weights: Array,
    n: int,
    idf: Callable[[TermStats], float],
) -> dict[QueryTerm, float]:
    """The n terms of largest weight · idf, best first and equal ones by name, with their weights."""
    order = np.argsort(-weights)
    most = 1 + math.log(snapshot.n_docs + 1)  # no idf is larger
    rows: list[tuple[float, str, float, TermStats]] = []
    for begin in range(0, len(order), n):
        # Looking up terms takes longest: leave those that no idf could bring among the best.
        if len(rows) == n and weights[order[begin]] * most < -rows[-1][0]:
            break
        for i in order[begin : begin + n].tolist():
            stats = snapshot.term_stats(stream, texts[i])
            rows.append((-float(weights[i]) * idf(stats), texts[i], float(weights[i]), stats))
        rows = sorted(row for row in rows if row[0] < 0)[:n]
    return {QueryTerm(text, 0.0, stats, stream): weight for _, text, weight, stats in rows}
