"""A mixture of words and character n-grams is its formula: a weighted mean of the levels' mean ln P."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.analysis.tokenizer import split_ngrams
from searchlab.errors import SettingError
from searchlab.indexing.building.deletion import delete
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3, similar_query
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import DocumentWeights, TrainedMixture
from tests.hypothesis_profiles import examples
from tests.scorers.contract import check_search, contract_documents
from tests.scorers.execution.test_mixture_scoring import Topics, padded

BIGRAMS = AnalysisSettings("none", "none", frozenset(), ngrams=2)
WORDS = ["cell", "cells", "bell", "a", "be"]
BOTH_LEVELS = Mixture(0.1, 0.3, ngram_document=0.2, ngram_corpus=0.4)

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
corpora = st.lists(st.tuples(texts, texts), min_size=1, max_size=12)
queries = st.lists(st.sampled_from([*WORDS, "cellx", "zzz"]), min_size=1, max_size=4).map(" ".join)


def level_score(query_units, documents_units, of_document, m_document, m_corpus):
    """The mean ln P of the known units of a level, and whether the document has one of them; None if none is known."""
    everything = Counter(unit for units in documents_units for unit in units)
    here = Counter(of_document)
    known = [unit for unit in query_units if everything[unit]]
    if not known:
        return None
    total = m_document + m_corpus
    logs = [
        math.log(
            m_document / total * here[unit] / max(len(of_document), 1)
            + m_corpus / total * everything[unit] / everything.total()
        )
        for unit in known
    ]
    return sum(logs) / len(logs), any(here[unit] for unit in known), len(known)


def scores_by_formula(documents, query, scorer):
    """The score of each document that has a word or an n-gram of the query."""
    words = {d.docno: f"{d.title} {d.body}".split() for d in documents}
    ngrams = {d.docno: [*split_ngrams(d.title, 2), *split_ngrams(d.body, 2)] for d in documents}
    share = scorer.ngram_document + scorer.ngram_corpus
    scores = {}
    for docno in words:
        by_words = level_score(query.split(), words.values(), words[docno], scorer.document, scorer.corpus)
        by_ngrams = level_score(
            split_ngrams(query, 2), ngrams.values(), ngrams[docno], scorer.ngram_document, scorer.ngram_corpus
        )
        levels = [(1 - share, by_words), (share, by_ngrams)]
        if any(level and level[1] for _, level in levels):
            n = next(level[2] for _, level in levels if level)
            scores[docno] = n * sum(weight * level[0] for weight, level in levels if level)
    return scores


@settings(max_examples=examples(60))
@given(corpora, queries, st.sampled_from([None, 15]), st.booleans())
def test_searches_find_what_the_formula_says(indexed, pairs, query, words_per_shard, compiled):
    documents = [Document(f"d{n:02}", *pair) for n, pair in enumerate(pairs)]
    expected = scores_by_formula(documents, query, BOTH_LEVELS)
    with (
        indexed(documents, settings=BIGRAMS, words_per_shard=words_per_shard) as folder,
        SearchEngine(folder, compiled=compiled) as engine,
    ):
        hits = engine.search(query, k=None, scorer=BOTH_LEVELS)
        found = dict(zip(hits.docnos, hits.scores.tolist(), strict=True))
        assert found == pytest.approx(expected)
        for docno, score in found.items():
            assert engine.explain(query, docno, scorer=BOTH_LEVELS).score == pytest.approx(score)


def test_a_score_by_hand(build):
    # Words: cell 1 of 2 in x, 1 of 3 in all. N-grams: x has ce el ll a, y has be; cell's: 1/4 each, 1/5 in all.
    folder = build([Document("x", "cell", "a"), Document("y", "", "be")], settings=BIGRAMS)
    scorer = Mixture(0.3, 0.2, ngram_document=0.1, ngram_corpus=0.4)
    word = math.log(0.6 * 1 / 2 + 0.4 * 1 / 3)
    ngram = math.log(0.2 * 1 / 4 + 0.8 * 1 / 5)
    with SearchEngine(folder) as engine:
        parts = engine.explain("cell", "x", scorer=scorer).parts
        assert {part.label: part.raw for part in parts} == {
            "cell": 1,
            "ce (n-gram)": 1,
            "el (n-gram)": 1,
            "ll (n-gram)": 1,
        }
        assert engine.search("cell", scorer=scorer).scores.tolist() == pytest.approx([0.5 * word + 0.5 * ngram])


def test_both_levels_keep_the_contract_of_scorers(build):
    folder = build(contract_documents(), settings=BIGRAMS, words_per_shard=600)
    delete(folder, [f"d{n:03}" for n in range(0, 240, 9)])
    with SearchEngine(folder) as compiled, SearchEngine(folder, compiled=False) as exhaustive:
        for scorer in (BOTH_LEVELS, Mixture(0.2, 0.2, 0.1, 0.1, 0.1, 0.1, ngram_document=0.1, ngram_corpus=0.1)):
            check_search((compiled, exhaustive), scorer)


def test_a_misspelt_word_is_found_by_its_ngrams(build):
    with SearchEngine(build([Document("x", "", "lymphoma"), Document("y", "", "heat")], settings=BIGRAMS)) as engine:
        assert engine.search("lymphma").docnos == []
        assert engine.search("lymphma", scorer=BOTH_LEVELS).docnos == ["x"]
        assert engine.search("lymphma", stream="ngrams").docnos == ["x"]


def test_ngrams_are_those_of_the_text_of_a_query_not_of_its_name(build):
    documents = [Document("cell", "", "heat flow"), Document("y", "", "heat"), Document("z", "", "cell")]
    with SearchEngine(build(documents, settings=BIGRAMS)) as engine:
        hits = engine.search(similar_query(engine, "cell"), k=None, scorer=BOTH_LEVELS)
        assert hits.docnos == ["y", "cell"] or hits.docnos == ["cell", "y"]


def test_an_expansion_adds_words_and_leaves_the_ngrams(build):
    documents = [Document(f"d{n}", "cell", "bell a" if n % 2 else "be") for n in range(6)]
    with SearchEngine(build(documents, settings=BIGRAMS)) as engine:
        pipeline = Pipeline(engine, BOTH_LEVELS, expansion=RM3(documents=3, terms=4))
        hits = pipeline.search("cell a")
        explained = [each.score for each in pipeline.explain(hits, hits.docnos)]
        assert explained == pytest.approx(hits.scores.tolist())


def test_topics_and_ngrams_together(build):
    documents = [Document("x", "cell", "a"), Document("y", "", "be bell")]
    with SearchEngine(build(documents, settings=BIGRAMS)) as engine:
        scorer = TrainedMixture(
            0.1, 0.2, topics=0.3, ngram_document=0.1, ngram_corpus=0.3, topic_model=Topics(engine.snapshot)
        )
        hits = engine.search("cell be", scorer=scorer)
        assert len(hits) == 2
        for docno, score in zip(hits.docnos, hits.scores.tolist(), strict=True):
            assert engine.explain("cell be", docno, scorer=scorer).score == pytest.approx(score)


def test_what_cannot_be_is_refused(build):
    with pytest.raises(SettingError, match="ngram_corpus is 0, expected more than 0 beside ngram_document"):
        Mixture(0.5, 0.3, ngram_document=0.2)
    own = DocumentWeights(("x",), padded([0.5, 0.5])[None])
    with pytest.raises(SettingError, match="weights of documents are those of words, found weights of n-grams"):
        TrainedMixture(0.1, 0.3, ngram_document=0.2, ngram_corpus=0.4, document_weights=own)
    with SearchEngine(build([Document("x", "a", "b")])) as engine:
        for options in ({"scorer": BOTH_LEVELS}, {"stream": "ngrams"}):
            with pytest.raises(SettingError, match="indexed without n-grams, found stream ngrams"):
                engine.search("a", **options)
