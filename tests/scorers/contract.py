"""The contract of scorers, as checks that take any scorer: those of the registry, and those of other packages.

`check_formula` and its neighbours hold for scorers by a formula over tf, `check_search` for every scorer.
"""

import math
import random

import numpy as np
import pytest
from hypothesis import strategies as st

from searchlab.indexing.building.deletion import delete
from searchlab.records import Document, TermStats
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.gains import gain

# Ten documents of ten words on average; the term occurs in four of them, five times.
TERM = TermStats(n_docs=10, n_tokens=100, doc_freq=4, term_count=5)
CLOSE = 1e-9


@st.composite
def situations(draw):
    """A document's numbers for a term, and a term's for a collection, that could occur together."""
    n_docs = draw(st.integers(1, 10**6))
    doc_freq = draw(st.integers(1, n_docs))
    term_count = draw(st.integers(doc_freq, doc_freq * 50))
    n_tokens = term_count + draw(st.integers(0, 10**9))
    tf = draw(st.integers(1, 1000))
    unique_length = draw(st.integers(1, 5000))
    length = tf + unique_length - 1 + draw(st.integers(0, 5000))
    return tf, length, unique_length, TermStats(n_docs, n_tokens, doc_freq, term_count)


def check_formula(scorer, situation):
    """The weight is background, bias and a positive gain; background and bias are the weight of an absent term."""
    tf, length, unique_length, term = situation
    lengths, uniques = np.array([length]), np.array([unique_length])
    norm, bias = scorer.doc_norm(lengths, uniques, term.mean_length), scorer.doc_bias(lengths, uniques)
    rest = scorer.background(term) + (0.0 if bias is None else bias[0])
    gained = gain(scorer.shape, float(tf), scorer.term_weight(term), scorer.term_factor(term), norm[0], scorer.shift)
    assert gained > 0
    assert rest + gained == pytest.approx(float(scorer.weigh(tf, length, term, unique_length)), rel=CLOSE, abs=CLOSE)
    assert rest == pytest.approx(float(scorer.weigh(0, length, term, unique_length)), rel=CLOSE, abs=CLOSE)


def check_finite_and_monotone(scorer, situation):
    """Weights are finite and grow with the frequency."""
    tf, length, unique_length, term = situation
    weights = [float(scorer.weigh(n, length, term, unique_length)) for n in (0, tf, tf + 1, 2 * tf + 1)]
    assert all(map(math.isfinite, weights))
    assert weights[0] < weights[1]
    assert weights == sorted(weights)


def check_rarer_term_gains_more(scorer, situation):
    """Of two terms with the same frequency, the rarer one gains more."""
    tf, length, unique_length, term = situation
    if term.doc_freq < 2:
        return
    rarer = TermStats(term.n_docs, term.n_tokens, term.doc_freq // 2, term.term_count // 2)
    common, rare = (
        float(scorer.weigh(tf, length, t, unique_length)) - float(scorer.weigh(0, length, t, unique_length))
        for t in (term, rarer)
    )
    assert rare >= common or rare == pytest.approx(common, rel=1e-6)


def check_arrays(scorer):
    """Weights of arrays are those of their numbers."""
    tfs, lengths, uniques = np.array([0, 1, 3]), np.array([5, 10, 20]), np.array([5, 9, 8])
    weights = scorer.weigh(tfs, lengths, TERM, uniques)
    singly = [float(scorer.weigh(*each, TERM, u)) for *each, u in zip(tfs, lengths, uniques, strict=True)]
    assert weights.tolist() == pytest.approx(singly)


def check_value(kind):
    """Scorers with the same settings are equal, and have a label."""
    assert kind() == kind()
    assert hash(kind()) == hash(kind())
    assert isinstance(kind.label, str) and kind.label


WORDS = "abcdefgh"
QUERIES = ["a", "a h", "h g h", "a b c d e f", "c unknown", "b b a"]


def contract_documents():
    """Short documents, many of them equal; all words of "same-…" and "more-…" documents are found there only."""
    chance = random.Random(11)
    texts = [" ".join(chance.choices(WORDS, range(8, 0, -1), k=chance.randint(1, 9))) for _ in range(60)]
    documents = [Document(f"d{n:03}", chance.choice(texts).split()[0], chance.choice(texts)) for n in range(240)]
    documents += [Document(f"same-{n}", "twin", "twin pair") for n in range(5)]
    # Equal lengths, equal numbers of distinct words: only the frequencies of "apple" and "pear" differ.
    documents += [Document(f"more-{n}", "fruit", " ".join(["apple"] * n + ["pear"] * (8 - n))) for n in range(1, 8)]
    return documents


def contract_engines(build):
    """The documents in several shards, some deleted: an engine with the compiled kernels, and one without."""
    folder = build(contract_documents(), words_per_shard=600)
    delete(folder, [f"d{n:03}" for n in range(0, 240, 9)])
    engines = SearchEngine(folder), SearchEngine(folder, compiled=False)
    assert len(engines[0].snapshot.shards) > 1
    return engines


def check_search(engines, scorer):
    """What an engine finds by a scorer, compiled and not."""
    for query in QUERIES:
        check_ranking(engines, scorer, query)
    check_equal_documents(engines, scorer)
    check_frequent_word(engines, scorer)


def check_ranking(engines, scorer, query):
    """Scores are finite, sums of their explanations, the same with and without pruning, and those of a tree."""
    compiled, exhaustive = engines
    everything = exhaustive.search(query, k=None, scorer=scorer)
    assert len(everything)
    assert np.isfinite(everything.scores).all()
    ranked = list(zip(everything.scores.tolist(), map(str.encode, everything.docnos), strict=True))
    assert ranked == sorted(ranked, reverse=True)
    for k in (1, 7, 40, None):
        hits = compiled.search(query, k=k, scorer=scorer)
        assert hits.docnos == everything.docnos[:k]
        assert hits.scores.tolist() == everything.scores[:k].tolist()
    for docno, score in list(zip(everything.docnos, everything.scores.tolist(), strict=True))[::17]:
        explanation = compiled.explain(query, docno, scorer=scorer)
        assert explanation.score == pytest.approx(score, rel=CLOSE, abs=CLOSE)
        text = f"{compiled.document(docno).title} {compiled.document(docno).body}".split()
        assert all((part.raw > 0) == (part.label.split()[0] in text) for part in explanation.parts)
        tree = compiled.search(f"docno:{docno} AND ({query})", scorer=scorer, syntax="full")
        for found, its_score in zip(tree.docnos, tree.scores.tolist(), strict=True):
            explained = compiled.explain(tree.query, found, scorer=scorer)
            assert explained.score == pytest.approx(its_score, rel=CLOSE, abs=CLOSE)


def check_equal_documents(engines, scorer):
    """Equal documents have the very same score, and are ordered by docno, descending."""
    for engine in engines:
        hits = engine.search("twin pair", k=5, scorer=scorer)
        assert hits.docnos == [f"same-{n}" for n in range(4, -1, -1)]
        assert len(set(hits.scores.tolist())) == 1


def check_frequent_word(engines, scorer):
    """Of documents that are otherwise alike, the one that has a word more often scores higher."""
    for engine in engines:
        hits = engine.search("apple", k=7, scorer=scorer)
        assert hits.docnos == [f"more-{n}" for n in range(7, 0, -1)]
        assert (np.diff(hits.scores) < 0).all()
