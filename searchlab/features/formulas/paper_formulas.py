"""The feature tables of papers: Cao et al. (Table 1), Nallapati, and OrdRank (Table I).

Formulas that they share with LETOR are taken from there.
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
    LETOR_BY_NAME["idf"]._replace(what="L5"),
    StreamFormula("L6", "Σ(q∩d) cf·ln(N/df)", lambda s: s.total((s.term_counts * s.idf)[s.term])),
    LETOR_BY_NAME["log_idf"]._replace(what="L7"),
    LETOR_BY_NAME["icf"]._replace(what="L8"),
    LETOR_BY_NAME["log_share_icf"]._replace(what="L9"),
    LETOR_BY_NAME["log_share_idf"]._replace(what="L10"),
    LETOR_BY_NAME["bm25"]._replace(what="H1"),
    LETOR_BY_NAME["log_bm25"]._replace(what="H2"),
    LETOR_BY_NAME["dirichlet"]._replace(what="H3"),
    LETOR_BY_NAME["jm"]._replace(what="H4"),
    LETOR_BY_NAME["absolute"]._replace(what="H5"),
)
