"""Features that are no function of counts: positions, further searches, the semantic space, mixtures, latent topics.

They are computed by the suppliers in `features.extraction`; this module names them and prints their formulas.
"""

from __future__ import annotations

from typing import NamedTuple

from searchlab.features.formulas.query_formulas import HE_OUNIS
from searchlab.indexing.storage.columns import STREAMS
from searchlab.scorers.mixture import Mixture


class MeasuredFeature(NamedTuple):
    """A feature computed by the supplier `needs`."""

    name: str
    formula: str
    stream: str
    source: str
    needs: str


# Dimensions of the semantic spaces.
SEMANTIC_DIMS = (50, 200)


class NeighbourFeature(NamedTuple):
    """What is known of the `size` candidates that are nearest to a candidate, in the semantic space or by words."""

    of: str
    size: int
    by_words: bool = False

    def describe(self) -> str:
        """The formula in words."""
        where = "by words" if self.by_words else f"in {SEMANTIC_DIMS[-1]} latent dimensions"
        nearest = f"the {self.size} candidates nearest to d {where}, by cosine"
        if self.of == "counts":
            return f"BM25 of d, tf and |d| averaged with means of {nearest}"
        return f"mean {self.of.upper()} of {nearest}"


NEIGHBOUR_FEATURES = {
    "neighbours.both.bm25_5": NeighbourFeature("bm25", 5),
    "neighbours.both.rm3_10": NeighbourFeature("rm3", 10),
    "neighbours.both.bm25_words_3": NeighbourFeature("bm25", 3, by_words=True),
    "neighbours.both.rm3_words_3": NeighbourFeature("rm3", 3, by_words=True),
    "neighbours.both.smoothed_words_3": NeighbourFeature("counts", 3, by_words=True),
}
MIXTURE_FEATURES = {
    "mixture.both.bigrams": Mixture(document=0.3, corpus=0.65, document_bigram=0.05),
    "mixture.both.fields": Mixture(document=0.2, corpus=0.6, title=0.1, body=0.1),
}
MEASURED_FEATURES = (
    *(
        MeasuredFeature(f"near.{stream}.{what}", formula, stream, source, "positions")
        for stream in STREAMS
        for what, formula, source in (
            ("phrase", "how often d has the whole query, word after word", "Croft, Turtle, Lewis, SIGIR 1991"),
            ("bigrams", "Σ over neighbours in q: how often d has them as neighbours", "Metzler, Croft, SIGIR 2005"),
            ("window", "words of the shortest stretch of d with all terms of q∩d", "Tao, Zhai, SIGIR 2007"),
            ("distance", "places between the nearest two different terms of q∩d", "Tao, Zhai, SIGIR 2007"),
        )
    ),
    MeasuredFeature(
        "score.both.rm3",
        "BM25 of the query expanded by RM3 (10 documents, 20 terms, weight 0.5)",
        "both",
        "Abdul-Jaleel et al., TREC-13",
        "rm3",
    ),
    MeasuredFeature("query.both.scope", "-ln(n/N), n the documents that have any word of q", "both", HE_OUNIS, "scope"),
    MeasuredFeature(
        "query.both.clarity",
        "Σ P(t|R)·ln(P(t|R)·|C|/cf), R the relevance model of the 10 best by BM25",
        "both",
        "Cronen-Townsend, Zhou, Croft, SIGIR 2002",
        "clarity",
    ),
    *(
        MeasuredFeature(
            f"semantic.both.{what}_{dims}",
            f"cosine of d and {other}, in {dims} latent dimensions",
            "both",
            "Deerwester et al. 1990",
            "semantic",
        )
        for dims in SEMANTIC_DIMS
        for what, other in (
            ("query", "q"),
            ("bm25", "the centroid of the 5 best by BM25, weighed by score"),
            ("rm3", "the centroid of the 10 best by RM3, weighed by score"),
        )
    ),
    *(
        MeasuredFeature(
            name,
            neighbours.describe(),
            "both",
            "Diaz, CIKM 2005",
            "semantic",
        )
        for name, neighbours in NEIGHBOUR_FEATURES.items()
    ),
    MeasuredFeature(
        "mixture.both.bigrams",
        "Σ(q) ln(Σ_k m_k·P_k): document 0.3, corpus 0.65, document bigrams 0.05",
        "both",
        "Miller, Leek, Schwartz, SIGIR 1999",
        "mixture",
    ),
    MeasuredFeature(
        "mixture.both.fields",
        "Σ(q) ln(Σ_k m_k·P_k): document 0.2, corpus 0.6, title 0.1, body 0.1",
        "both",
        "Miller, Leek, Schwartz, SIGIR 1999",
        "mixture",
    ),
    *(
        MeasuredFeature(f"topic.both.{what}", formula, "both", "Hofmann, SIGIR 1999; Chen, slide 9", "topics")
        for what, formula in (
            ("cosine", "cosine of P(T|d) and P(T|q), T the topics of PLSA"),
            ("likelihood", "Σ(q) ln Σ_T P(q|T)·P(T|d)"),
            ("plsa", "Σ(q) ln(αβ·Σ_T P(q|T)·P(T|d) + α(1-β)·cf/|C| + (1-α)·c/|d|), α=0.7, β=0.3"),
        )
    ),
)
