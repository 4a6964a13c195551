"""The scores of the search engine as features: BM25, language models and BM25F."""

from __future__ import annotations

import numpy as np

from searchlab.features.counts import Counts
from searchlab.features.formulas.stream_formula import StreamFormula, score_stream
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.two_stage import TwoStage
from searchlab.types import Array

SCORE: tuple[StreamFormula, ...] = (
    StreamFormula(
        "bm25",
        "BM25, k1=1.2, b=0.75, idf ln(1 + (N-df+½)/(df+½))",
        lambda s: score_stream(s, BM25()),
        "Robertson et al., TREC-3",
    ),
    StreamFormula(
        "dirichlet",
        "Σ(q) ln((c + μ·cf/|C|)/(|d| + μ)), μ=1000",
        lambda s: score_stream(s, Dirichlet()),
        "Zhai, Lafferty, SIGIR 2001",
    ),
    StreamFormula(
        "two-stage",
        "Σ(q) ln((1-λ)·(c + μ·cf/|C|)/(|d| + μ) + λ·cf/|C|), μ=1000, λ=0.1",
        lambda s: score_stream(s, TwoStage()),
        "Zhai, Lafferty, SIGIR 2002",
    ),
)


def bm25f(counts: Counts) -> Array:
    """BM25F over title and body."""
    scorer, both = BM25F(), counts.streams["both"]
    frequencies = np.zeros(both.tf.shape)
    for name in scorer.streams:
        s = counts.streams[name]
        # A stream without any text has no mean length; its frequencies are 0 whatever the mean.
        mean = (s.stats[0].mean_length if s.stats else 0.0) or 1.0
        frequencies += scorer.pseudo_tf(name, s.tf, s.lengths, mean)
    return score_stream(both.with_tf(frequencies).known, scorer)
