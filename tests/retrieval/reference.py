"""A reference for searches, as slow and plain as possible.

Texts are split at blanks and counted by Python; a score is the sum of `scorer.weigh` over the words of the
query. Nothing of the index is used.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from searchlab.records import Document, TermStats
from searchlab.retrieval.results import Hits
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.base import PostingScorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.registry import SCORERS
from searchlab.scorers.tfidf import TFIDF
from searchlab.scorers.two_stage import TwoStage

# Scorers that need nothing but an index.
POSTING_SCORERS = {name: kind for name, kind in SCORERS.items() if issubclass(kind, PostingScorer)}
# Each of them with its defaults, and settings at which a term gains nothing, or less than nothing.
ALL_SCORERS: list[PostingScorer] = [
    *(kind() for kind in POSTING_SCORERS.values()),
    BM25(k1=0.1, b=1),
    BM25(idf="robertson"),
    BM25F(title=0),
    BM25F(body=0, title_b=0),
    TFIDF(s=1),
    Dirichlet(mu=0.5),
    JelinekMercer(1),
    AbsoluteDiscount(1),
    Mixture(0, 1),
    TwoStage(mu=2, lambda_=1),
]
CLOSE = 1e-9


def text_of(document: Document, stream: str) -> list[str]:
    texts = {"title": document.title, "body": document.body, "both": f"{document.title} {document.body}"}
    return texts[stream].split()


@dataclass
class Reference:
    """A pile of documents to be searched from the first to the last."""

    documents: list[Document]

    def stats(self, term: str, stream: str) -> TermStats:
        texts = [text_of(document, stream) for document in self.documents]
        return TermStats(
            n_docs=len(texts),
            n_tokens=sum(len(text) for text in texts),
            doc_freq=sum(term in text for text in texts),
            term_count=sum(text.count(term) for text in texts),
        )

    def frequency(self, term: str, document: Document, scorer: PostingScorer, stream: str) -> float:
        """tf, or for BM25F the f of its docstring."""
        if not isinstance(scorer, BM25F):
            return text_of(document, stream).count(term)
        f = 0.0
        for field, weight, b in (("title", scorer.title, scorer.title_b), ("body", scorer.body, scorer.body_b)):
            text, mean = text_of(document, field), self.stats(term, field).mean_length
            if term in text:
                f += weight * text.count(term) / (1 - b + b * len(text) / mean)
        return f

    def scores(self, query: str, scorer: PostingScorer, stream: str) -> dict[str, float]:
        """The score of each document that has at least one word of the query."""
        stats = {word: self.stats(word, stream) for word in query.split()}
        known = [word for word in query.split() if stats[word].doc_freq]
        scores = {}
        for document in self.documents:
            text = text_of(document, stream)
            if set(known) & set(text):
                scores[document.docno] = sum(
                    float(
                        scorer.weigh(
                            self.frequency(word, document, scorer, stream), len(text), stats[word], len(set(text))
                        )
                    )
                    for word in known
                )
        return scores

    def assert_found(self, hits: Hits, scores: dict[str, float], k: int | None) -> None:
        """The hits are the k best, best first; scores that differ by rounding alone may change places."""
        expected = sorted(scores.values(), reverse=True)[:k]
        assert hits.scores.tolist() == pytest.approx(expected, abs=CLOSE, rel=CLOSE)
        assert hits.scores.tolist() == pytest.approx([scores[docno] for docno in hits.docnos], abs=CLOSE, rel=CLOSE)
        assert len(set(hits.docnos)) == len(hits.docnos)
        ranked = list(zip(hits.scores.tolist(), map(str.encode, hits.docnos), strict=True))
        assert ranked == sorted(ranked, reverse=True)
        self._assert_twins_stand_by_docno(set(hits.docnos), scores)

    def _assert_twins_stand_by_docno(self, found: set[str], scores: dict[str, float]) -> None:
        """Documents with the same text have the very same score: those with the last docnos are taken first."""
        twins: dict[tuple[str, str], list[str]] = {}
        for document in self.documents:
            if document.docno in scores:
                twins.setdefault((document.title, document.body), []).append(document.docno)
        for docnos in twins.values():
            in_order = sorted(docnos, key=str.encode, reverse=True)
            taken = [docno for docno in in_order if docno in found]
            assert taken == in_order[: len(taken)]


def random_documents(seed: int, n_docs: int, words: Iterable[str], longest: int) -> list[Document]:
    """Short documents of few words: equal ones, repeats and empty fields are frequent."""
    chance, words = random.Random(seed), list(words)
    names = chance.sample([f"{letter}{number}" for letter in ("d", "D", "é", "日", "") for number in range(60)], n_docs)
    return [
        Document(
            name,
            " ".join(chance.choices(words, k=chance.randint(0, 3))),
            " ".join(chance.choices(words, k=chance.randint(0, longest))),
        )
        for name in names
    ]
