"""Query expansion: RM3 adds terms of the best documents to a query; a document becomes a query for similar ones.

RM3 is pseudo-relevance feedback: it assumes that the best documents of a first search are relevant, and needs no
judgments. Both ways give a `Query` whose terms have weights instead of counts, to be searched like any other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import SettingError, not_an_object, unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.records import QueryTerm, TermStats
from searchlab.retrieval.composition.steps import Step, setting_label
from searchlab.retrieval.document_reading import DocumentReading, join_lists
from searchlab.retrieval.results import Hits, Query
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.retrieval.composition.base_pipeline import BasePipeline
    from searchlab.retrieval.engine import SearchEngine

# A relevance model of more documents is a model of the collection, and a query of more terms is a document.
MAX_DOCUMENTS = MAX_TERMS = 1000

# Terms, and the frequency of each.
TermFrequencies = tuple[list[str], Array]


@dataclass(frozen=True, eq=False)
class RelevanceModel:
    """P(w|R), the distribution of terms in relevant documents, estimated from the best documents of a search.

    `terms` are those of the documents, `probabilities` the P(w|R) of each. Both are empty if nothing was found.
    """

    snapshot: Snapshot
    stream: str
    terms: tuple[str, ...] = ()
    probabilities: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class RM3(Step):
    """A query mixed with the relevance model of its best documents (Lavrenko, Croft 2001; Abdul-Jaleel et al. 2004).

    weight(w) = |Q| · (λ·P(w|Q) + (1 - λ)·P(w|R)),   λ = `weight`, P(w|Q) = count/|Q|, |Q| the query's words
    P(w|R) ∝ Σ P(w|d)·P(Q|d)   over the best `documents` of a first search, P(w|d) = tf/|d|
    P(Q|d) ∝ exp(score(d)/√|Q|)

    P(w|R) is kept for the `terms` words of largest P(w|R)·ln((N + 1)/df), and scaled to sum to 1 over these. So the
    weights sum to |Q|, scores keep their size, and λ = 1 is the query itself.

    Deviations, each chosen by measuring on five collections:
    - In the papers P(Q|d) is exp(score) of a language model. But words do not occur independently: for a long query
      one document would dominate all others. The root softens it. Scores of other scorers are treated as if they
      were logarithms too; used directly, as in Anserini, they make the documents nearly equal.
    - The papers smooth P(w|d). A little smoothing changes nothing, and much of it lets in the collection's frequent
      words.
    - The papers choose words by P(w|R) alone; idf excludes words that all documents have. Anserini's filters (no
      digits, no single letters, no word that a tenth of the documents have) then gain nothing.
    """

    documents: int = 10
    terms: int = 20
    weight: float = 0.5

    def __post_init__(self) -> None:
        _require_count("RM3: documents", self.documents, MAX_DOCUMENTS)
        _require_count("RM3: terms", self.terms, MAX_TERMS)
        if isinstance(self.weight, bool) or not isinstance(self.weight, int | float) or not 0 <= self.weight <= 1:
            raise SettingError(f"RM3: weight is {self.weight!r}, expected a number from 0 to 1")

    @property
    def label(self) -> str:
        """RM3 with the settings that are not the defaults."""
        return setting_label(self)

    def follow(self, pipeline: BasePipeline) -> BasePipeline:
        """A retriever whose query is expanded, and searched again by the same scorer."""
        return pipeline.expanded_by(self)

    def estimate(self, engine: SearchEngine, hits: Hits, *, stream: str = "both") -> RelevanceModel:
        """The relevance model of the best hits of a first search."""
        engine.snapshot.require_stream(stream)
        n_words = sum(term.count for term in hits.query.terms)
        if not len(hits) or not n_words:
            return RelevanceModel(engine.snapshot, stream)
        scores = hits.scores[: self.documents]
        likelihoods = np.exp((scores - scores.max()) / math.sqrt(n_words))
        likelihoods /= likelihoods.sum()
        # Shards number terms independently. Sums are formed in the order of the hits, whatever the shards.
        best = hits.shards[: self.documents], hits.docs[: self.documents]
        counted = engine.read_documents(TermReading(stream), *best)
        found = list(chain.from_iterable(texts for texts, _ in counted))
        rows = {text: row for row, text in enumerate(dict.fromkeys(found))}
        shares = [
            likelihood * tfs / tfs.sum() for (_, tfs), likelihood in zip(counted, likelihoods.tolist(), strict=True)
        ]
        of_rows = np.fromiter(map(rows.__getitem__, found), np.int64, len(found))
        probabilities = np.bincount(of_rows, np.concatenate(shares))
        return RelevanceModel(engine.snapshot, stream, tuple(rows), probabilities)

    def expand(self, query: Query, model: RelevanceModel) -> Query:
        """The query mixed with a relevance model; unchanged if that is empty, as where a field matched and no text."""
        with model.snapshot.report_damage():
            selected = _most_telling(
                model.snapshot, model.stream, model.terms, model.probabilities, self.terms, _relevance_idf
            )
        if not selected:
            return query
        n_words = sum(term.count for term in query.terms)
        total = sum(selected.values())
        # Terms are compared without their counts: one of the query and the same one of the documents are equal.
        weights: defaultdict[QueryTerm, float] = defaultdict(float)
        for term in query.terms:
            weights[replace(term, count=0.0)] += self.weight * term.count
        for term, share in selected.items():
            weights[term] += (1 - self.weight) * n_words * share / total
        terms = [replace(term, count=weight) for term, weight in weights.items() if weight > 0]
        return replace(query, terms=tuple(terms))


# Expansions by their names.
EXPANSIONS: dict[str, type[RM3]] = {"rm3": RM3}


def make_expansion(name: str) -> RM3:
    """The expansion of this name, with its default settings."""
    if name not in EXPANSIONS:
        raise unknown_name("expansion", name, EXPANSIONS)
    return EXPANSIONS[name]()


def as_expansion(expansion: RM3 | str | None) -> RM3 | None:
    """An expansion, given as such or by its name; None stays None."""
    if isinstance(expansion, str):
        return make_expansion(expansion)
    if isinstance(expansion, type) and issubclass(expansion, RM3):
        raise not_an_object("expansion", expansion)
    if expansion is not None and not isinstance(expansion, RM3):
        raise SettingError(f"expansion is {expansion!r}, expected RM3(), its name 'rm3', or None")
    return expansion


def similar_query(engine: SearchEngine, docno: str, *, terms: int = 25, stream: str = "both") -> Query:
    """A query for documents similar to a given one, which it finds too (after Lucene's MoreLikeThis).

    Its terms are those of largest tf · (1 + ln((N + 1)/(df + 1))), each counted tf times.

    Deviations: Lucene demands tf ≥ 2 and df ≥ 5, which leaves nothing of a short text; here a term is left out only
    if no other document has it. Lucene can weigh terms by tf·idf; scorers include idf already, and applying it twice
    is worse (measured).
    """
    engine.snapshot.require_stream(stream)
    _require_count("terms", terms, MAX_TERMS)
    shard, doc = engine.snapshot.locate(docno)
    [(texts, tfs)] = engine.read_documents(TermReading(stream), np.array([shard]), np.array([doc]))
    selected = _most_telling(engine.snapshot, stream, texts, tfs, terms, _similarity_idf)
    return Query(f"like {docno}", tuple(replace(term, count=tf) for term, tf in selected.items()), ())


def _require_count(name: str, value: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SettingError(f"{name} is {value!r}, expected a whole number from 1 to {most}")


def _relevance_idf(stats: TermStats) -> float:
    return math.log((stats.n_docs + 1) / stats.doc_freq)


def _similarity_idf(stats: TermStats) -> float:
    return 1 + math.log((stats.n_docs + 1) / (stats.doc_freq + 1)) if stats.doc_freq > 1 else 0.0


@dataclass(frozen=True)
class TermReading(DocumentReading[list[TermFrequencies]]):
    """The distinct terms of documents in a stream, and the frequency of each."""

    stream: str

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> list[TermFrequencies]:
        """Terms and frequencies of each document."""
        return _count_terms(engine.snapshot, shards.tolist(), docs.tolist(), self.stream)

    def join(self, parts: Sequence[tuple[Array, list[TermFrequencies]]], n_docs: int) -> list[TermFrequencies]:
        """Those of all groups."""
        return join_lists(parts, n_docs)


def _count_terms(snapshot: Snapshot, shards: Sequence[int], docs: Sequence[int], stream: str) -> list[TermFrequencies]:
    found: list[TermFrequencies] = [([], np.zeros(0))] * len(docs)
    for shard_index in set(shards):
        rows = [row for row, shard in enumerate(shards) if shard == shard_index]
        with snapshot.report_damage():
            document = snapshot.shards[shard_index].columns.document_tokens(stream)
            starts, ends = document.ranges(np.array([docs[row] for row in rows]), stream)
            # All at once, which is faster than document by document.
            own, numbers, tfs = _count_tokens(document.tokens.gather(starts, ends), ends - starts, len(document.terms))
            distinct, places = np.unique(numbers, return_inverse=True)
            known = document.terms.take(distinct)
        texts = [known[place] for place in places.tolist()]
        bounds = np.searchsorted(own, np.arange(len(rows) + 1)).tolist()
        for row, (begin, end) in zip(rows, pairwise(bounds), strict=True):
            found[row] = texts[begin:end], tfs[begin:end]
    return found


def _count_tokens(tokens: Array, lengths: Array, n_terms: int) -> tuple[Array, Array, Array]:
    """The document, the term and the count of each distinct pair in documents of these lengths, in this order."""
    if len(tokens) and tokens.max() >= n_terms:  # it would be counted as a term of another document
        raise IndexError("a token that is not the number of a term")
    pairs, counts = np.unique(np.repeat(np.arange(len(lengths)), lengths) * n_terms + tokens, return_counts=True)
    return *np.divmod(pairs, max(n_terms, 1)), counts


def _most_telling(
    snapshot: Snapshot,
    stream: str,
    texts: Sequence[str],
    weights: Array,
    n: int,
    idf: Callable[[TermStats], float],
) -> dict[QueryTerm, float]:
    """The n terms of largest weight · idf, best first and equal ones by name, with their weights."""
    order = np.argsort(-weights)
    max_idf = 1 + math.log(snapshot.n_docs + 1)
    rows: list[tuple[float, str, float, TermStats]] = []
    for begin in range(0, len(order), n):
        # Looking up terms takes most of the time: skip those that even the largest idf could not bring among the best.
        if len(rows) == n and weights[order[begin]] * max_idf < -rows[-1][0]:
            break
        for i in order[begin : begin + n].tolist():
            stats = snapshot.term_stats(stream, texts[i])
            rows.append((-float(weights[i]) * idf(stats), texts[i], float(weights[i]), stats))
        rows = sorted(row for row in rows if row[0] < 0)[:n]
    return {QueryTerm(text, 0.0, stats, stream): weight for _, text, weight, stats in rows}
