"""Which features are there?

Each has a name, `family.stream.what`, its formula, its source, and a function from counts to a number for each
candidate. In the formulas c is the count of a term in the stream of the document and |d| the length of that; N, df, cf
and |C| are the collection's documents, those that have the term, the term's count and the count of all terms, in the
same stream. Logarithms are natural. A sum over q is over all words of the query that the stream of the collection has,
one over q∩d over those that the document has; a repeated word counts each time.

Where a value is undefined (the logarithm of 0, the model of a document that has nothing of the query) it is NaN.

Where the sources leave something open:
- idf in the tables of Cao and Nallapati is ln(N/df), as in LETOR, which Cao's group made.
- |C| beside cf is the collection's length there, as |d| is the document's; LETOR computed it with N.
- BM25 of LETOR is Lemur's, with k3 = 7, and the mean length is rounded to six digits: only so its numbers come out.
- LETOR has neither BM25 nor language models for a document whose stream has no word of the query.
- OrdRank's Table I names features of LETOR, and what LETOR computed stands for them; only L6 is none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from searchlab.features.counts import Counts, StreamCounts
from searchlab.indexing.storage.columns import STREAMS
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.base import LanguageModel, PostingScorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.gains import gain
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.two_stage import TwoStage
from searchlab.types import Array

# A number for each candidate, from the terms that a stream knows.
Formula = Callable[[StreamCounts], Array]


@dataclass(frozen=True)
class Feature:
    """One feature; `counted` names the streams whose counts it needs, `needs` the supplier of what no count gives."""

    name: str
    formula: str
    stream: str
    source: str
    function: Callable[[Counts], Array]
    counted: tuple[str, ...]
    needs: str = ""


def compute(features: Sequence[Feature], counts: Counts) -> Array:
    """The features of all candidates: a row for each of these, a column for each feature, NaN where it is undefined."""
    columns = np.empty((len(features), counts.n_candidates))
    with np.errstate(divide="ignore", invalid="ignore"):
        for column, feature in zip(columns, features, strict=True):
            column[:] = feature.function(counts)
    infinite = np.isinf(columns)
    if infinite.any():
        columns[infinite] = np.nan
    return columns.T


class Row(NamedTuple):
    """A feature of any stream: its formula in print and in Python."""

    what: str
    formula: str
    compute: Formula
    source: str = ""


def _undefined(s: StreamCounts) -> Array:
    return np.full(s.n_candidates, np.nan)


# LETOR 3.0, of which the tables of the papers are parts and variants.

LEMUR, K3 = BM25(k1=1.2, b=0.75, idf="robertson"), 7.0
ROUNDING = 1e-12


def score(s: StreamCounts, scorer: PostingScorer) -> Array:
    """The sum of a scorer's weights over the words of the query, taken apart as in the engine: equal to its scores."""
    if not s.n_terms:
        return np.zeros(s.n_candidates)
    weights = np.array([scorer.term_weight(term) for term in s.stats])
    scores = s.total(_gains(s, scorer, weights, s.stats[0].mean_length))
    scores += float(s.query_counts @ [scorer.background(term) for term in s.stats])
    bias = scorer.doc_bias(s.lengths, s.uniques)
    return scores if bias is None else scores + float(s.query_counts.sum()) * bias


def _gains(s: StreamCounts, scorer: PostingScorer, weights: Array, mean_length: float) -> Array:
    """What each candidate gains by having each term."""
    factors = np.array([scorer.term_factor(term) for term in s.stats])
    norms = scorer.doc_norm(s.lengths, s.uniques, mean_length)
    return np.asarray(gain(scorer.shape, s.c, weights[s.term], factors[s.term], norms[s.doc], scorer.shift))


def lemur_bm25(s: StreamCounts) -> Array:
    """Σ BM25 · n·(k3 + 1)/(n + k3) over the distinct terms, n the term's count in the query."""
    if not s.n_terms:
        return _undefined(s)
    weights = np.array([LEMUR.term_weight(term) for term in s.stats])
    weights *= (K3 + 1) * s.query_counts / (K3 + s.query_counts)
    gains = _gains(s, LEMUR, weights, float(f"{s.stats[0].mean_length:.6g}"))
    return np.where(s.n_matched > 0, s.add(gains), np.nan)


def _log_bm25(s: StreamCounts) -> Array:
    bm25 = s.once(lemur_bm25)
    # Terms that more than half of the documents have weigh less than 0: what is left of a sum of 0 is rounding.
    return np.asarray(np.log(np.where(bm25 > ROUNDING, bm25, 0)))


def _likelihood(model: LanguageModel) -> Formula:
    """Σ ln P(t|d) over the words of the query, undefined for a document that has none of them."""
    return lambda s: np.where(s.n_matched > 0, score(s, model), np.nan)


LETOR: tuple[Row, ...] = (
    Row("tf", "Σ(q∩d) c", lambda s: s.total(s.c)),
    Row("log_tf", "Σ(q∩d) ln(c + 1)", lambda s: s.total(np.log1p(s.c))),
    Row("share", "Σ(q∩d) c/|d|", lambda s: s.total(s.share)),
    Row("log_share", "Σ(q∩d) ln(c/|d| + 1)", lambda s: s.total(np.log1p(s.share))),
    Row("idf", "Σ(q) ln(N/df)", lambda s: s.constant(s.idf)),
    Row("log_idf", "Σ(q) ln(ln(N/df))", lambda s: s.constant(np.log(s.idf))),
    Row("icf", "Σ(q) ln(N/cf + 1)", lambda s: s.constant(np.log1p(s.n_docs / s.term_counts))),
    Row(
        "log_share_idf",
        "Σ(q∩d) ln(c/|d|·ln(N/df) + 1)",
        lambda s: s.total(np.log1p(s.share * s.idf[s.term])),
    ),
    Row("tf_idf", "Σ(q∩d) c·ln(N/df)", lambda s: s.total(s.c * s.idf[s.term])),
    Row(
        "log_share_icf",
        "Σ(q∩d) ln(c/|d|·N/cf + 1)",
        lambda s: s.total(np.log1p(s.share * (s.n_docs / s.term_counts)[s.term])),
    ),
    Row("bm25", "BM25, k1=1.2, b=0.75, k3=7, idf ln((N-df+½)/(df+½))", lambda s: s.once(lemur_bm25)),
    Row("log_bm25", "ln(BM25)", _log_bm25),
    Row("dirichlet", "Σ(q) ln((c + μ·cf/|C|)/(|d| + μ)), μ=50", _likelihood(Dirichlet(50))),
    Row("jm", "Σ(q) ln((1-λ)·c/|d| + λ·cf/|C|), λ=0.5", _likelihood(JelinekMercer(0.5))),
    Row(
        "absolute",
        "Σ(q) ln(max(c-δ, 0)/|d| + δ·u/|d|·cf/|C|), δ=0.5, u the distinct terms of d",
        _likelihood(AbsoluteDiscount(0.5)),
    ),
)
_LETOR = {row.what: row for row in LETOR}


# The papers' tables; what they share with LETOR is taken from there.


_MATCHING_LOG_IDF = Row("log_idf", "Σ(q∩d) ln(ln(N/df))", lambda s: s.total(np.log(s.idf)[s.term]))
_LOG_SHARE_LENGTH = Row(
    "log_share_icf",
    "Σ(q∩d) ln(c/|d|·|C|/cf + 1)",
    lambda s: s.total(np.log1p(s.share * (s.n_tokens / s.term_counts)[s.term])),
)

TABLE1: tuple[Row, ...] = (
    _LETOR["log_tf"],
    Row("log_icf", "Σ(q∩d) ln(|C|/cf + 1)", lambda s: s.total(np.log1p(s.n_tokens / s.term_counts)[s.term])),
    _MATCHING_LOG_IDF,
    _LETOR["log_share"],
    _LETOR["log_share_idf"],
    _LOG_SHARE_LENGTH,
    _LETOR["log_bm25"],
)
NALLAPATI: tuple[Row, ...] = (
    Row("log_tf", "Σ(q∩d) ln c", lambda s: s.total(np.log(s.c))),
    _LETOR["log_share"],
    _MATCHING_LOG_IDF,
    Row("icf", "Σ(q∩d) ln(|C|/cf)", lambda s: s.total(np.log(s.n_tokens / s.term_counts)[s.term])),
    _LETOR["log_share_idf"],
    _LOG_SHARE_LENGTH,
)
ORDRANK: tuple[Row, ...] = (
    _LETOR["tf"]._replace(what="L1"),
    _LETOR["log_tf"]._replace(what="L2"),
    _LETOR["share"]._replace(what="L3"),
    _LETOR["log_share"]._replace(what="L4"),
    _LETOR["idf"]._replace(what="L5"),
    Row("L6", "Σ(q∩d) cf·ln(N/df)", lambda s: s.total((s.term_counts * s.idf)[s.term])),
    _LETOR["log_idf"]._replace(what="L7"),
    _LETOR["icf"]._replace(what="L8"),
    _LETOR["log_share_icf"]._replace(what="L9"),
    _LETOR["log_share_idf"]._replace(what="L10"),
    _LETOR["bm25"]._replace(what="H1"),
    _LETOR["log_bm25"]._replace(what="H2"),
    _LETOR["dirichlet"]._replace(what="H3"),
    _LETOR["jm"]._replace(what="H4"),
    _LETOR["absolute"]._replace(what="H5"),
)


# What else counts say: of matches, of documents, of the query, and the engine's own scores.


def _mean(s: StreamCounts, numbers: Array) -> Array:
    return np.asarray(s.query_counts @ numbers / s.query_counts.sum())


SUMMARIES: dict[str, Callable[[StreamCounts, Array], Array]] = {
    "min": lambda s, numbers: numbers.min(axis=0),
    "max": lambda s, numbers: numbers.max(axis=0),
    "mean": _mean,
    "variance": lambda s, numbers: _mean(s, (numbers - _mean(s, numbers)) ** 2),
}


def _summary(how: str, numbers: Formula) -> Formula:
    summarise = SUMMARIES[how]
    return lambda s: summarise(s, numbers(s)) if s.n_terms else _undefined(s)


def _clarity(s: StreamCounts) -> Array:
    wanted = s.query_counts / s.query_counts.sum()
    return s.fill(float(wanted @ np.log(wanted * s.n_tokens / s.term_counts))) if s.n_terms else _undefined(s)


_MSLR, _HE = "after Qin, Liu, MSLR-WEB30K", "He, Ounis, SPIRE 2004"
MATCH: tuple[Row, ...] = (
    Row("coverage", "distinct terms of q∩d / distinct terms of q", lambda s: s.n_matched / s.n_asked, _MSLR),
    *(Row(f"tf_{how}", f"{how} of c over q", _summary(how, lambda s: s.tf), _MSLR) for how in SUMMARIES),
    *(
        Row(f"tfidf_{how}", f"{how} of c·ln(N/df) over q", _summary(how, lambda s: s.tf * s.idf[:, None]), _MSLR)
        for how in SUMMARIES
    ),
)
DOCUMENT: tuple[Row, ...] = (
    Row("length", "|d|", lambda s: s.lengths, _MSLR),
    Row("unique", "distinct terms of d", lambda s: s.uniques, _MSLR),
)
QUERY: tuple[Row, ...] = (
    Row("length", "|q|, stop words left out", lambda s: s.fill(s.n_words), _HE),
    _LETOR["idf"]._replace(what="idf_sum", source=_HE),
    Row("idf_max", "max(q) ln(N/df)", lambda s: s.fill(s.idf.max(initial=-np.inf)), _HE),
    Row("simple_clarity", "Σ(t∈q) P(t|q)·ln(P(t|q)·|C|/cf)", _clarity, _HE),
)
SCORE: tuple[Row, ...] = (
    Row(
        "bm25",
        "BM25, k1=1.2, b=0.75, idf ln(1 + (N-df+½)/(df+½))",
        lambda s: score(s, BM25()),
        "Robertson et al., TREC-3",
    ),
    Row(
        "dirichlet",
        "Σ(q) ln((c + μ·cf/|C|)/(|d| + μ)), μ=1000",
        lambda s: score(s, Dirichlet()),
        "Zhai, Lafferty, SIGIR 2001",
    ),
    Row(
        "two-stage",
        "Σ(q) ln((1-λ)·(c + μ·cf/|C|)/(|d| + μ) + λ·cf/|C|), μ=1000, λ=0.1",
        lambda s: score(s, TwoStage()),
        "Zhai, Lafferty, SIGIR 2002",
    ),
)


def bm25f(counts: Counts) -> Array:
    """BM25F over title and body."""
    scorer, both = BM25F(), counts.streams["both"]
    frequencies = np.zeros(both.tf.shape)
    for name in scorer.streams:
        s = counts.streams[name]
        # A stream without any text has no mean length; its frequencies are 0, whatever that is.
        mean = (s.stats[0].mean_length if s.stats else 0.0) or 1.0
        frequencies += scorer.pseudo_tf(name, s.tf, s.lengths, mean)
    return score(both.with_tf(frequencies).known, scorer)


# What no count gives is measured by a supplier (see `extraction`), and only handed on here.


class Measure(NamedTuple):
    """A feature that a supplier measures."""

    name: str
    formula: str
    stream: str
    source: str
    needs: str


DIMS = (50, 200)  # of the semantic spaces
MIXTURES = {
    "mixture.both.bigrams": Mixture(document=0.3, corpus=0.65, document_bigram=0.05),
    "mixture.both.fields": Mixture(document=0.2, corpus=0.6, title=0.1, body=0.1),
}
MEASURES = (
    *(
        Measure(f"near.{stream}.{what}", formula, stream, source, "positions")
        for stream in STREAMS
        for what, formula, source in (
            ("phrase", "how often d has the whole query, word after word", "Croft, Turtle, Lewis, SIGIR 1991"),
            ("bigrams", "Σ over neighbours in q: how often d has them as neighbours", "Metzler, Croft, SIGIR 2005"),
            ("window", "words of the shortest stretch of d with all terms of q∩d", "Tao, Zhai, SIGIR 2007"),
            ("distance", "places between the nearest two different terms of q∩d", "Tao, Zhai, SIGIR 2007"),
        )
    ),
    Measure(
        "score.both.rm3",
        "BM25 of the query expanded by RM3 (10 documents, 20 terms, weight 0.5)",
        "both",
        "Abdul-Jaleel et al., TREC-13",
        "rm3",
    ),
    Measure("query.both.scope", "-ln(n/N), n the documents that have any word of q", "both", _HE, "scope"),
    Measure(
        "query.both.clarity",
        "Σ P(t|R)·ln(P(t|R)·|C|/cf), R the relevance model of the 10 best by BM25",
        "both",
        "Cronen-Townsend, Zhou, Croft, SIGIR 2002",
        "clarity",
    ),
    *(
        Measure(
            f"semantic.both.{what}_{dims}",
            f"cosine of d and {other}, in {dims} latent dimensions",
            "both",
            "Deerwester et al. 1990",
            "semantic",
        )
        for dims in DIMS
        for what, other in (
            ("query", "q"),
            ("bm25", "the centroid of the 5 best by BM25, weighed by score"),
            ("rm3", "the centroid of the 10 best by RM3, weighed by score"),
        )
    ),
    Measure(
        "mixture.both.bigrams",
        "Σ(q) ln(Σ_k m_k·P_k): document 0.3, corpus 0.65, document bigrams 0.05",
        "both",
        "Miller, Leek, Schwartz, SIGIR 1999",
        "mixture",
    ),
    Measure(
        "mixture.both.fields",
        "Σ(q) ln(Σ_k m_k·P_k): document 0.2, corpus 0.6, title 0.1, body 0.1",
        "both",
        "Miller, Leek, Schwartz, SIGIR 1999",
        "mixture",
    ),
    *(
        Measure(f"topic.both.{what}", formula, "both", "Hofmann, SIGIR 1999; Chen, slide 9", "topics")
        for what, formula in (
            ("cosine", "cosine of P(T|d) and P(T|q), T the topics of PLSA"),
            ("likelihood", "Σ(q) ln Σ_T P(q|T)·P(T|d)"),
            ("plsa", "Σ(q) ln(αβ·Σ_T P(q|T)·P(T|d) + α(1-β)·cf/|C| + (1-α)·c/|d|), α=0.7, β=0.3"),
        )
    ),
)


def _hand_on(name: str, counts: Counts) -> Array:
    return counts.measured[name]


def _of_stream(name: str, row: Row, stream: str, source: str) -> Feature:
    return Feature(
        name, row.formula, stream, source, lambda counts: row.compute(counts.streams[stream].known), (stream,)
    )


def _all_features() -> Iterator[Feature]:
    """The catalogue, family by family; LETOR's features in its order."""
    for place, stream in enumerate(STREAMS):
        for number, row in enumerate(LETOR, start=1 + place * len(LETOR)):
            yield _of_stream(f"letor.{stream}.{row.what}", row, stream, f"LETOR 3.0 OHSUMED, feature {number}")
    for family, source, rows in (
        ("table1", "Cao et al., SIGIR 2006, Table 1", TABLE1),
        ("nallapati", "Nallapati, SIGIR 2004", NALLAPATI),
        ("ordrank", "Sun et al., OrdRank, Table I", ORDRANK),
    ):
        for stream in STREAMS:
            for number, row in enumerate(rows, start=1):
                which = row.what if family == "ordrank" else f"feature {number}"
                yield _of_stream(f"{family}.{stream}.{row.what}", row, stream, f"{source}, {which}")
    for family, rows in (("match", MATCH), ("doc", DOCUMENT), ("score", SCORE)):
        for stream in STREAMS:
            for row in rows:
                yield _of_stream(f"{family}.{stream}.{row.what}", row, stream, row.source)
    fields = "BM25F, k1=1.2, title counted twice, b=0.75"
    yield Feature("score.both.bm25f", fields, "both", "Zaragoza et al., TREC-13", bm25f, STREAMS)
    for row in QUERY:
        yield _of_stream(f"query.both.{row.what}", row, "both", row.source)
    for name, formula, stream, source, needs in MEASURES:
        yield Feature(name, formula, stream, source, partial(_hand_on, name), (), needs)


CATALOGUE: dict[str, Feature] = {feature.name: feature for feature in _all_features()}
