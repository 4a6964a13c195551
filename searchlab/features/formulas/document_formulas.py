"""Features of the match between query and document, and of the document alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from searchlab.features.counts import StreamCounts
from searchlab.features.formulas.stream_formula import Formula, StreamFormula, undefined
from searchlab.types import Array

_MSLR = "after Qin, Liu, MSLR-WEB30K"


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
    return lambda s: summarise(s, numbers(s)) if s.n_terms else undefined(s)


MATCH: tuple[StreamFormula, ...] = (
    StreamFormula("coverage", "distinct terms of q∩d / distinct terms of q", lambda s: s.n_matched / s.n_asked, _MSLR),
    *(StreamFormula(f"tf_{how}", f"{how} of c over q", _summary(how, lambda s: s.tf), _MSLR) for how in SUMMARIES),
    *(
        StreamFormula(
            f"tfidf_{how}", f"{how} of c·ln(N/df) over q", _summary(how, lambda s: s.tf * s.idf[:, None]), _MSLR
        )
        for how in SUMMARIES
    ),
)
DOCUMENT: tuple[StreamFormula, ...] = (
    StreamFormula("length", "|d|", lambda s: s.lengths, _MSLR),
    StreamFormula("unique", "distinct terms of d", lambda s: s.uniques, _MSLR),
)
