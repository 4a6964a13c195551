"""The 15 features that LETOR 3.0 has for each stream of OHSUMED; the tables of the papers are parts and variants of it.

`benchmarks/letor_features.py` feeds them the counts that LETOR published.
"""

from __future__ import annotations

import numpy as np

from searchlab.features.counts import StreamCounts
from searchlab.features.formulas.stream_formula import (
    Formula,
    StreamFormula,
    compute_gains,
    score_stream,
    undefined,
)
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.base import LanguageModel
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.types import Array

LEMUR_BM25, K3 = BM25(k1=1.2, b=0.75, idf="robertson"), 7.0
# A BM25 of at most this is a sum of 0 with rounding errors.
ROUNDING = 1e-12


def lemur_bm25(s: StreamCounts) -> Array:
    """Σ BM25 · n·(k3 + 1)/(n + k3) over the distinct terms, n the term's count in the query."""
    if not s.n_terms:
        return undefined(s)
    weights = np.array([LEMUR_BM25.term_weight(term) for term in s.stats])
    weights *= (K3 + 1) * s.query_counts / (K3 + s.query_counts)
    gains = compute_gains(s, LEMUR_BM25, weights, float(f"{s.stats[0].mean_length:.6g}"))
    return np.where(s.n_matched > 0, s.add(gains), np.nan)


def _log_bm25(s: StreamCounts) -> Array:
    bm25 = s.once(lemur_bm25)
    # Terms in more than half of the documents have negative weights, so that a sum may be 0 up to rounding.
    return np.asarray(np.log(np.where(bm25 > ROUNDING, bm25, 0)))


def _likelihood(model: LanguageModel) -> Formula:
    """Σ ln P(t|d) over the words of the query, undefined for a document that has none of them."""
    return lambda s: np.where(s.n_matched > 0, score_stream(s, model), np.nan)


LETOR: tuple[StreamFormula, ...] = (
    StreamFormula("tf", "Σ(q∩d) c", lambda s: s.total(s.c)),
    StreamFormula("log_tf", "Σ(q∩d) ln(c + 1)", lambda s: s.total(np.log1p(s.c))),
    StreamFormula("share", "Σ(q∩d) c/|d|", lambda s: s.total(s.share)),
    StreamFormula("log_share", "Σ(q∩d) ln(c/|d| + 1)", lambda s: s.total(np.log1p(s.share))),
    StreamFormula("idf", "Σ(q) ln(N/df)", lambda s: s.constant(s.idf)),
    StreamFormula("log_idf", "Σ(q) ln(ln(N/df))", lambda s: s.constant(np.log(s.idf))),
    StreamFormula("icf", "Σ(q) ln(N/cf + 1)", lambda s: s.constant(np.log1p(s.n_docs / s.term_counts))),
    StreamFormula(
        "log_share_idf",
        "Σ(q∩d) ln(c/|d|·ln(N/df) + 1)",
        lambda s: s.total(np.log1p(s.share * s.idf[s.term])),
    ),
    StreamFormula("tf_idf", "Σ(q∩d) c·ln(N/df)", lambda s: s.total(s.c * s.idf[s.term])),
    StreamFormula(
        "log_share_icf",
        "Σ(q∩d) ln(c/|d|·N/cf + 1)",
        lambda s: s.total(np.log1p(s.share * (s.n_docs / s.term_counts)[s.term])),
    ),
    StreamFormula("bm25", "BM25, k1=1.2, b=0.75, k3=7, idf ln((N-df+½)/(df+½))", lambda s: s.once(lemur_bm25)),
    StreamFormula("log_bm25", "ln(BM25)", _log_bm25),
    StreamFormula("dirichlet", "Σ(q) ln((c + μ·cf/|C|)/(|d| + μ)), μ=50", _likelihood(Dirichlet(50))),
    StreamFormula("jm", "Σ(q) ln((1-λ)·c/|d| + λ·cf/|C|), λ=0.5", _likelihood(JelinekMercer(0.5))),
    StreamFormula(
        "absolute",
        "Σ(q) ln(max(c-δ, 0)/|d| + δ·u/|d|·cf/|C|), δ=0.5, u the distinct terms of d",
        _likelihood(AbsoluteDiscount(0.5)),
    ),
)
LETOR_BY_NAME = {row.what: row for row in LETOR}
