"""The feature tables of papers: Cao et al. (Table 1), Nallapati, and OrdRank (Table I).

Formulas that they share with LETOR are taken from there.

Table I of OrdRank is as printed: all of L1–L10 are sums over q∩d, and L6 has c(q_i, C), the count in the collection.
|C| is not defined there; it is the number of documents, since L5 is an idf, in L8 and L9 too. LETOR reads the same
table otherwise: L5, L7 and L8 are sums over the whole query, so that they are constant within it, and L6 has c(q_i, d)
(`ORDRANK_AS_LETOR`).
"""

from __future__ import annotations

import numpy as np

from searchlab.features.formulas.letor_formulas import LETOR_BY_NAME
from searchlab.features.formulas.stream_formula import StreamFormula

_MATCHING_LOG_IDF = StreamFormula("log_idf", "Σ(q∩d) ln(ln(N/df))", lambda s: s.total(np.log(s.idf)[s.term]))
_LOG_SHARE_LENGTH = StreamFormula(
    "log_share_icf",
    "Σ(q∩d) ln(c/|d|·|C|/cf + 1)",
    lambda s: s.total(np.log1p(s.share * (s.n_tokens / s.term_counts)[s.term])),
)

TABLE1: tuple[StreamFormula, ...] = (
    LETOR_BY_NAME["log_tf"],
    StreamFormula("log_icf", "Σ(q∩d) ln(|C|/cf + 1)", lambda s: s.total(np.log1p(s.n_tokens / s.term_counts)[s.term])),
    _MATCHING_LOG_IDF,
    LETOR_BY_NAME["log_share"],
    LETOR_BY_NAME["log_share_idf"],
    _LOG_SHARE_LENGTH,
    LETOR_BY_NAME["log_bm25"],
)
NALLAPATI: tuple[StreamFormula, ...] = (
    StreamFormula("log_tf", "Σ(q∩d) ln c", lambda s: s.total(np.log(s.c))),
    LETOR_BY_NAME["log_share"],
    _MATCHING_LOG_IDF,
    StreamFormula("icf", "Σ(q∩d) ln(|C|/cf)", lambda s: s.total(np.log(s.n_tokens / s.term_counts)[s.term])),
    LETOR_BY_NAME["log_share_idf"],
    _LOG_SHARE_LENGTH,
)
ORDRANK: tuple[StreamFormula, ...] = (
    LETOR_BY_NAME["tf"]._replace(what="L1"),
    LETOR_BY_NAME["log_tf"]._replace(what="L2"),
    LETOR_BY_NAME["share"]._replace(what="L3"),
    LETOR_BY_NAME["log_share"]._replace(what="L4"),
    StreamFormula("L5", "Σ(q∩d) ln(N/df)", lambda s: s.total(s.idf[s.term])),
    StreamFormula("L6", "Σ(q∩d) cf·ln(N/df)", lambda s: s.total((s.term_counts * s.idf)[s.term])),
    _MATCHING_LOG_IDF._replace(what="L7"),
    StreamFormula("L8", "Σ(q∩d) ln(N/cf + 1)", lambda s: s.total(np.log1p(s.n_docs / s.term_counts)[s.term])),
    LETOR_BY_NAME["log_share_icf"]._replace(what="L9"),
    LETOR_BY_NAME["log_share_idf"]._replace(what="L10"),
    LETOR_BY_NAME["bm25"]._replace(what="H1"),
    LETOR_BY_NAME["log_bm25"]._replace(what="H2"),
    LETOR_BY_NAME["dirichlet"]._replace(what="H3"),
    LETOR_BY_NAME["jm"]._replace(what="H4"),
    LETOR_BY_NAME["absolute"]._replace(what="H5"),
)
# LETOR's names for L1–L10 and H1–H5.
ORDRANK_AS_LETOR: tuple[StreamFormula, ...] = tuple(
    LETOR_BY_NAME[what]
    for what in (
        *("tf", "log_tf", "share", "log_share", "idf", "tf_idf", "log_idf", "icf", "log_share_icf", "log_share_idf"),
        *("bm25", "log_bm25", "dirichlet", "jm", "absolute"),
    )
)
