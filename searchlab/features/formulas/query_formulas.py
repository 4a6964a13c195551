"""Features of the query alone, which predict how well it does; the same for each candidate."""

from __future__ import annotations

import numpy as np

from searchlab.features.counts import StreamCounts
from searchlab.features.formulas.letor_formulas import LETOR_BY_NAME
from searchlab.features.formulas.stream_formula import StreamFormula, undefined
from searchlab.types import Array

HE_OUNIS = "He, Ounis, SPIRE 2004"


def _simple_clarity(s: StreamCounts) -> Array:
    if not s.n_terms:
        return undefined(s)
    probabilities = s.query_counts / s.query_counts.sum()
    return s.fill(float(probabilities @ np.log(probabilities * s.n_tokens / s.term_counts)))


QUERY: tuple[StreamFormula, ...] = (
    StreamFormula("length", "|q|, stop words left out", lambda s: s.fill(s.n_words), HE_OUNIS),
    LETOR_BY_NAME["idf"]._replace(what="idf_sum", source=HE_OUNIS),
    StreamFormula("idf_max", "max(q) ln(N/df)", lambda s: s.fill(s.idf.max(initial=-np.inf)), HE_OUNIS),
    StreamFormula("simple_clarity", "Σ(t∈q) P(t|q)·ln(P(t|q)·|C|/cf)", _simple_clarity, HE_OUNIS),
)
