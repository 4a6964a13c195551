"""What do documents score, whatever they had to match?

The same sum as in the compiled kernels, by NumPy: for one query in a fresh process, for scorers whose gains can be
negative, and for queries that ask for more than words. Terms may be looked for in different texts; each is scored
by the numbers of its own. Gains are added in descending order of their bounds, so that a document has the same
score to the last bit, whichever way it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from searchlab.scorers.base import ScorableQuery, Scorer
from searchlab.scorers.execution.index_reader import Numbers, Variants, scorer_of_text
from searchlab.scorers.gains import exact_gain
from searchlab.types import Array

# Fewer documents than one in this many are looked up in the postings; for more, all postings are read.
FEW = 16


class Share(NamedTuple):
    """A term's share in the score: where it is looked for, by which scorer, and its numbers."""

    stream: str
    variants: Variants
    scorer: Scorer
    weight: float
    factor: float


@dataclass(frozen=True)
class Shares:
    """The shares of a query in descending order of their bounds; `n_words` counts its words in each text."""

    shares: list[Share]
    background: float
    n_words: dict[tuple[Scorer, str], float]


def share_out(numbers: Numbers, query: ScorableQuery, scorer: Scorer, stream: str) -> Shares:
    """Everything about a query's score that does not depend on a shard."""
    rows = []
    n_words: dict[tuple[Scorer, str], float] = {}
    for term in query.terms:
        # Without a tree, all words are looked for in the stream that is searched.
        text = stream if query.node is None else term.stream
        own = scorer_of_text(scorer, text)
        rows.append((term, text, own, numbers.of_term(own, text, term.variants)))
        n_words[own, text] = n_words.get((own, text), 0.0) + term.count
    rows.sort(key=lambda row: -row[0].count * row[3].bound)
    shares = [
        Share(text, term.variants, own, term.count * found.weight, found.factor) for term, text, own, found in rows
    ]
    return Shares(shares, sum(term.count * found.background for term, *_, found in rows), n_words)


def score(numbers: Numbers, query: Shares, place: int, found: Array, n_docs: int) -> Array:
    """The scores of some documents of a shard, given in ascending order."""
    if not len(found):
        return np.zeros(0)
    few = len(found) * FEW < n_docs
    sums = np.zeros(len(found) if few else n_docs)
    for stream, variants, scorer, weight, factor in query.shares:
        docs, tfs = numbers.frequencies(place, scorer, stream, variants)
        slots = docs
        if few:
            slots, at = meet(found.astype(docs.dtype), docs)
            docs, tfs = docs[at], tfs[at]
        own = numbers.of_docs(scorer, stream)[place]
        norm = own.norm_table[own.norm_codes[docs]]
        sums[slots] += exact_gain(scorer.shape, tfs.astype(float), weight, factor, norm, scorer.shift)
    scores = (sums if few else sums[found]) + query.background
    for (scorer, stream), count in query.n_words.items():
        biases = numbers.of_docs(scorer, stream)[place].biases
        if len(biases):
            scores += count * biases[found]
    return scores


def meet(few: Array, many: Array) -> tuple[Array, Array]:
    """Where two ascending arrays have equal numbers: the places in each."""
    if not len(many):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(many, few), len(many) - 1)
    places = np.flatnonzero(many[at] == few)
    return places, at[places]
