from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexCorrupt, SettingError
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3, similar_query
from searchlab.retrieval.pipeline import Pipeline
from searchlab.retrieval.results import Query
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.tfidf import TFIDF
from tests.hypothesis_profiles import examples
from tests.retrieval.reference import ALL_SCORERS, Reference, random_documents, text_of

# Without length normalisation, documents that have the query's word once score the same.
EVEN = BM25(b=0)

WORDS = ["a", "b", "c", "d", "e", "f"]
corpora = st.builds(
    random_documents,
    seed=st.integers(0, 10**6),
    n_docs=st.integers(1, 30),
    words=st.just(WORDS),
    longest=st.sampled_from([1, 3, 12]),
)
queries = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=6).map(" ".join)
expansions = st.builds(
    RM3,
    documents=st.integers(1, 12),
    terms=st.integers(1, 8),
    weight=st.sampled_from([0, 0.25, 0.5, 0.9, 1]),
)


def expand(expansion: RM3, engine: SearchEngine, query: str | Query, **settings) -> Query:
    return Pipeline(engine, expansion=expansion, **settings).start(query).expanded_query


def weights_of(query: Query) -> dict[str, float]:
    weights = {term.text: term.count for term in query.terms}
    assert len(weights) == len(query.terms)
    return weights


@pytest.fixture(scope="module")
def kitchen(build):
    documents = [
        Document("x", "", "apple pie"),
        Document("y", "", "apple tart tart cream"),
        Document("z", "", "pie"),
        Document("w", "", "pear"),
    ]
    return SearchEngine(build(documents))


@pytest.fixture(scope="module")
def library(build):
    documents = [
        Document("flu", "Influenza vaccines", "A vaccine protects against influenza and its fever."),
        Document("shot", "Vaccination", "Influenza vaccines protect the old; fever may follow a vaccine."),
        Document("cold", "The common cold", "Colds are common, and fever is rare."),
        Document("wing", "Supersonic wings", "Heat flows over a wing at supersonic speed."),
        Document("jet", "Jets", "Supersonic jets have swept wings."),
        Document("none"),
    ]
    return SearchEngine(build(documents, settings=AnalysisSettings()))


# By hand: x and y match "apple" and score the same, so each speaks with 1/2. P(apple|R) = ½·½ + ½·¼ = 3/8, that of pie
# ½·½ = 1/4, of tart ½·½ = 1/4, of cream ½·¼ = 1/8. Times ln(5/df): tart .402, apple .344, pie .229, cream .201.
@pytest.mark.parametrize(
    ("expansion", "expected"),
    [
        # 3/8 + 1/4 + 1/4 = 7/8: shares 3/7, 2/7 and 2/7, each halved, and half of the query.
        (RM3(terms=3), {"apple": 1 / 2 + 3 / 14, "tart": 1 / 7, "pie": 1 / 7}),
        # 3/8 + 1/4 = 5/8: shares 3/5 and 2/5.
        (RM3(terms=2), {"apple": 1 / 2 + 3 / 10, "tart": 1 / 5}),
        (RM3(terms=1), {"apple": 1 / 2, "tart": 1 / 2}),
        (RM3(terms=9, weight=0), {"apple": 3 / 8, "tart": 1 / 4, "pie": 1 / 4, "cream": 1 / 8}),
        (RM3(terms=9, weight=0.75), {"apple": 3 / 4 + 3 / 32, "tart": 1 / 16, "pie": 1 / 16, "cream": 1 / 32}),
        # Of equal scores the last docno is the best: only y speaks.
        (RM3(documents=1, weight=0), {"apple": 1 / 4, "tart": 1 / 2, "cream": 1 / 4}),
    ],
)
def test_weights_are_those_worked_by_hand(kitchen, expansion, expected):
    assert weights_of(expand(expansion, kitchen, "apple", scorer=EVEN)) == pytest.approx(expected)


def test_a_repeated_word_weighs_twice(kitchen):
    # By hand: z, the shortest, is the best for pie and has nothing else, so that all of |Q| = 2 is pie's.
    (pie,) = expand(RM3(documents=1, weight=0.5), kitchen, "pie pie", scorer=BM25(b=1)).terms
    assert (pie.text, pie.count) == ("pie", 2)
    counts = weights_of(expand(RM3(weight=0.5), kitchen, "pie apple pie", scorer=EVEN))
    assert sum(counts.values()) == pytest.approx(3)
    once = weights_of(expand(RM3(weight=0), kitchen, "pie apple pie", scorer=EVEN))
    assert counts["pie"] == pytest.approx((2 + once["pie"]) / 2)
    assert counts["apple"] == pytest.approx((1 + once["apple"]) / 2)


def test_a_document_speaks_by_its_score_the_less_sharply_the_longer_the_query(kitchen):
    # By hand: "pear" is all of w, "pie" all of z; the rarer word, in the one document, has the larger idf.
    gap = log(1 + 3.5 / 1.5) - log(1 + 2.5 / 2.5)
    expanded = weights_of(expand(RM3(documents=2, weight=0), kitchen, "pie pear", scorer=BM25(b=1, k1=1e-9)))
    assert expanded["pear"] / 2 == pytest.approx(1 / (1 + exp(-gap / sqrt(2))))


def test_words_that_no_document_has_stay_unknown_and_weigh_nothing(kitchen):
    expanded = expand(RM3(), kitchen, "apple quince", scorer=EVEN)
    assert expanded.unknown == ("quince",)
    assert weights_of(expanded) == weights_of(expand(RM3(), kitchen, "apple", scorer=EVEN))


@pytest.mark.parametrize("text", ["quince", "", "?"])
def test_a_query_that_finds_nothing_stays_as_it_is(kitchen, text):
    query = kitchen.parse(text)
    assert expand(RM3(), kitchen, query) == query


def test_a_query_may_be_given_as_text_or_parsed_or_as_hits(kitchen):
    expected = expand(RM3(), kitchen, "apple pie")
    assert expand(RM3(), kitchen, kitchen.parse("apple pie")) == expected
    hits = kitchen.search("apple pie", k=10)
    assert RM3().expand(hits.query, RM3().estimate(kitchen, hits)) == expected
    first, everything = RM3(documents=1), kitchen.search("apple pie", k=None)
    assert first.expand(hits.query, first.estimate(kitchen, everything)) == expand(first, kitchen, "apple pie")


def test_an_expanded_query_finds_documents_without_any_of_its_words(library):
    assert "cold" not in library.search("vaccine").docnos
    expanded = expand(RM3(), library, "vaccine")
    assert "fever" in weights_of(expanded)
    assert "cold" in library.search(expanded).docnos


@pytest.mark.parametrize(("stream", "foreign"), [("title", "fever"), ("body", "vaccin")])
def test_words_come_from_the_stream_that_is_searched(build, stream, foreign):
    documents = [Document("flu", "influenza vaccin", "influenza fever"), Document("other", "fever", "vaccin")]
    engine = SearchEngine(build(documents))
    expanded = expand(RM3(), engine, "influenza", stream=stream)
    assert foreign not in weights_of(expanded)
    assert len(expanded.terms) == 2
    assert all(term.stats == engine.snapshot.term_stats(stream, term.text) for term in expanded.terms)
    assert engine.search(expanded, stream=stream).docnos == ["flu"]


def test_what_a_query_demands_it_demands_when_expanded(library):
    query = library.parse("+wing supersonic", syntax="full")
    expanded = expand(RM3(), library, query)
    assert expanded.node == query.node
    assert len(expanded.terms) > len(query.terms)
    assert sorted(library.search(expanded).docnos) == ["jet", "wing"]


def test_a_query_without_words_stays_as_it_is(build):
    engine = SearchEngine(build([Document("a", "", "b", {"year": 1999})]))
    query = engine.parse("year:[1990 TO 2000]", syntax="full")
    assert engine.search(query).docnos == ["a"]
    assert expand(RM3(), engine, query) == query


def test_a_query_whose_documents_have_no_text_stays_as_it_is(build):
    engine = SearchEngine(build([Document("a", "", "", {"author": "smith"}), Document("b", "", "smith")]))
    query = engine.parse("author:smith", syntax="full")
    assert engine.search(query).docnos == ["a"]
    assert expand(RM3(), engine, query) == query


def relevance_model(documents: list[Document], docnos, scores, n_words: float, stream: str) -> dict[str, float]:
    """P(w|R), from the texts."""
    texts = {document.docno: text_of(document, stream) for document in documents}
    beliefs = [exp((score - max(scores)) / sqrt(n_words)) for score in scores]
    return {
        word: sum(
            belief / sum(beliefs) * texts[docno].count(word) / len(texts[docno])
            for docno, belief in zip(docnos, beliefs, strict=True)
        )
        for word in {word for docno in docnos for word in texts[docno]}
    }


@settings(max_examples=examples(25))
@given(documents=corpora, text=queries, expansion=expansions, words_per_shard=st.sampled_from([None, 40]))
def test_a_query_is_mixed_with_the_words_of_its_best_documents(indexed, documents, text, expansion, words_per_shard):
    reference = Reference(documents)
    with indexed(documents, words_per_shard=words_per_shard) as folder:
        engine = SearchEngine(folder, compiled=False)
        for scorer in ALL_SCORERS:
            for stream in STREAMS if not isinstance(scorer, BM25F) else ["both"]:
                hits = engine.search(text, k=expansion.documents, scorer=scorer, stream=stream)
                if not hits:
                    continue
                counts = weights_of(hits.query)
                n_words = sum(counts.values())
                model = relevance_model(documents, hits.docnos, hits.scores.tolist(), n_words, stream)
                worth = {
                    word: share * log((len(documents) + 1) / reference.stats(word, stream).doc_freq)
                    for word, share in model.items()
                }
                chosen = weights_of(expand(replace(expansion, weight=0), engine, text, scorer=scorer, stream=stream))
                assert len(chosen) == min(expansion.terms, sum(share > 0 for share in model.values()))
                assert (
                    min(worth[word] for word in chosen)
                    >= max([worth[word] for word in model if word not in chosen], default=0) - 1e-12
                )
                kept = sum(model[word] for word in chosen)
                assert chosen == pytest.approx({word: n_words * model[word] / kept for word in chosen})
                mixed = weights_of(expand(expansion, engine, text, scorer=scorer, stream=stream))
                share = expansion.weight
                expected = {
                    word: share * counts.get(word, 0) + (1 - share) * chosen.get(word, 0) for word in {*counts, *chosen}
                }
                assert mixed == pytest.approx({word: weight for word, weight in expected.items() if weight})
                assert all(weight > 0 for weight in mixed.values())
                assert sum(mixed.values()) == pytest.approx(n_words)


@settings(max_examples=examples(20))
@given(documents=corpora, text=queries, expansion=expansions)
def test_an_expansion_does_not_depend_on_shards(indexed, documents, text, expansion):
    found = []
    for words_per_shard in (None, 30, None):
        with indexed(documents, words_per_shard=words_per_shard) as folder:
            engine = SearchEngine(folder, compiled=False)
            expanded = expand(expansion, engine, text, scorer=TFIDF())
            similar = similar_query(engine, documents[0].docno, terms=expansion.terms)
            found.append((expanded, engine.search(expanded, k=None).docnos, similar))
    assert found[0] == found[1] == found[2]


@settings(max_examples=examples(15))
@given(documents=corpora, text=queries)
def test_with_all_weight_on_the_query_scores_are_the_query_s(indexed, documents, text):
    with indexed(documents) as folder:
        engine = SearchEngine(folder, compiled=False)
        for scorer in ALL_SCORERS:
            plain = engine.search(text, k=None, scorer=scorer)
            same = engine.search(expand(RM3(weight=1), engine, text, scorer=scorer), k=None, scorer=scorer)
            assert same.docnos == plain.docnos
            assert same.scores.tolist() == plain.scores.tolist()


def test_compiled_search_finds_the_same_for_weighted_terms(library):
    plain = SearchEngine(library.snapshot.folder, compiled=False)
    for scorer in (BM25(), Dirichlet(), BM25F()):
        expanded = expand(RM3(), library, "supersonic vaccine", scorer=scorer)
        found = library.search(expanded, scorer=scorer)
        assert found.docnos == plain.search(expanded, scorer=scorer).docnos
        for docno, score in zip(found.docnos, found.scores, strict=True):
            assert library.explain(expanded, docno, scorer=scorer).score == pytest.approx(score)


def test_equal_terms_are_chosen_by_name(build):
    engine = SearchEngine(build([Document("a", "", "q 日 z b a ж"), Document("b", "", "other")]))
    expanded = expand(RM3(terms=4, weight=0), engine, "q")
    assert [term.text for term in expanded.terms] == ["q", "a", "b", "z"]  # the query's own stand first


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("documents", 0, "RM3: documents is 0, expected a whole number from 1 to 1000"),
        ("documents", 1001, "RM3: documents is 1001, expected"),
        ("documents", 2.5, "RM3: documents is 2.5, expected"),
        ("terms", -1, "RM3: terms is -1, expected a whole number from 1 to 1000"),
        ("terms", True, "RM3: terms is True, expected"),
        ("weight", 1.01, "RM3: weight is 1.01, expected a number from 0 to 1"),
        ("weight", -0.1, "RM3: weight is -0.1, expected"),
        ("weight", float("nan"), "RM3: weight is nan, expected"),
        ("weight", "half", "RM3: weight is 'half', expected"),
    ],
)
def test_settings_out_of_range_are_refused(setting, value, expected):
    with pytest.raises(SettingError, match=f"^{expected}"):
        RM3(**{setting: value})


def test_an_unknown_stream_is_refused(kitchen):
    for ask in (
        lambda: expand(RM3(), kitchen, "apple", stream="titel"),
        lambda: expand(RM3(), kitchen, kitchen.parse("apple"), stream="titel"),
        lambda: RM3().estimate(kitchen, kitchen.search("apple"), stream="titel"),
        lambda: similar_query(kitchen, "x", stream="titel"),
    ):
        with pytest.raises(SettingError, match="unknown stream 'titel'"):
            ask()


def test_damaged_tokens_are_told(build):
    engine = SearchEngine(build([Document("a", "", "b c")]))
    (shard,) = engine.snapshot.shards
    shard.columns = replace(shard.columns, tokens=Column(np.array([0, 99], np.uint32)))
    with pytest.raises(IndexCorrupt, match="a column is damaged"):
        expand(RM3(), engine, "b")


@pytest.mark.parametrize(("docno", "nearest"), [("flu", "shot"), ("shot", "flu"), ("wing", "jet"), ("jet", "wing")])
def test_the_nearest_document_is_about_the_same(library, docno, nearest):
    query = similar_query(library, docno)
    assert query.text == f"like {docno}"
    others = [found for found in library.search(query).docnos if found != docno]
    assert others[0] == nearest


def test_a_document_s_terms_count_as_often_as_it_has_them_if_another_has_them_too(kitchen):
    # By hand, tf · (1 + ln(5/(df + 1))): apple and pie have df 2; tart and cream are in y alone.
    assert weights_of(similar_query(kitchen, "x")) == {"apple": 1, "pie": 1}
    assert weights_of(similar_query(kitchen, "y")) == {"apple": 1}
    assert [term.text for term in similar_query(kitchen, "x", terms=1).terms] == ["apple"]


def test_the_most_top_terms_of_a_document_are_chosen(build):
    documents = [
        Document("m", "k", "f f f r r"),
        Document("n", "", "f r"),
        *(Document(f"f{i}", "", "f") for i in range(9)),
    ]
    engine = SearchEngine(build(documents))
    # By hand, N = 11: f has df 11 and 3·(1 + ln(12/12)) = 3, r has df 2 and 2·(1 + ln(12/3)) = 4.77.
    assert [(term.text, term.count) for term in similar_query(engine, "m").terms] == [("r", 2), ("f", 3)]
    assert similar_query(engine, "m", stream="title").terms == ()


def test_a_document_that_is_like_no_other_finds_nothing(kitchen, library):
    assert similar_query(kitchen, "w").terms == ()
    assert len(kitchen.search(similar_query(kitchen, "w"))) == 0
    assert len(library.search(similar_query(library, "none"))) == 0


def test_a_document_that_is_not_there_is_refused(kitchen):
    with pytest.raises(SettingError, match="holds no document 'v'"):
        similar_query(kitchen, "v")
    with pytest.raises(SettingError, match=r"^terms is 0, expected a whole number from 1 to 1000"):
        similar_query(kitchen, "x", terms=0)
