"""A mixture of more than unigrams is its formula, however documents are found."""

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import IndexCorrupt, SettingError
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.storage.arrays.column import Column
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.execution.mixture_components import COMPONENTS, MixtureComponents
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import DocumentWeights, TrainedMixture
from tests.hypothesis_profiles import examples
from tests.retrieval.reference import CLOSE, Reference, random_documents

WORDS = ["a", "b", "c", "d"]
UNI_BI = Mixture(0.2, 0.3, 0.3, 0.2)
FIELDS = Mixture(0.2, 0.3, 0.1, 0.1, 0.2, 0.1)
MIXTURES = [UNI_BI, FIELDS, Mixture(0, 0.5, 0, 0, 0.5, 0), Mixture(0, 0.5, 0.5), Mixture(0.1, 0.2, 0, 0.7)]


class Topics:
    """A topic model of made-up numbers that depend on nothing but names."""

    n_topics = 3

    def __init__(self, snapshot):
        self._snapshot = snapshot

    @staticmethod
    def of(name, total):
        found = np.array([sum(name.encode()) % 7 + 1, len(name), 2.0])
        return found / total / found.sum()

    def term_given_topic(self, terms):
        return np.array([self.of(term, 5) for term in terms]).reshape(-1, 3)

    def topics_given_document(self, shards, docs):
        columns = [shard.columns.docnos for shard in self._snapshot.shards]
        names = [columns[shard][doc] for shard, doc in zip(shards.tolist(), docs.tolist(), strict=True)]
        return np.array([self.of(name, 1) for name in names]).reshape(-1, 3)


@dataclass
class SlowMixture(Reference):
    """The formula, document by document and word by word; documents of the same text are `alike`, or are not."""

    alike: bool = True
    remembered: dict = field(default_factory=dict)  # type: ignore[type-arg]

    def _assert_twins_stand_by_docno(self, found, scores):
        if self.alike:
            super()._assert_twins_stand_by_docno(found, scores)

    def models(self, document, term, before):
        key = document.docno, term, before
        if key not in self.remembered:
            self.remembered[key] = self._models(document, term, before)
        return self.remembered[key]

    def _models(self, document, term, before):
        title, body = document.title.split(), document.body.split()
        both = title + body
        everything = [word for other in self.documents for word in f"{other.title} {other.body}".split()]
        document_model, corpus = (text.count(term) / max(len(text), 1) for text in (both, everything))
        if before is None:
            bigrams = document_model, corpus
        else:
            pair = (before, term)
            here = [*pairwise(title), *pairwise(body)].count(pair)
            anywhere = sum([*pairwise(d.title.split()), *pairwise(d.body.split())].count(pair) for d in self.documents)
            bigrams = here / max(both.count(before), 1), anywhere / everything.count(before)
        in_fields = [text.count(term) / max(len(text), 1) for text in (title, body)]
        topical = Topics.of(term, 5) @ Topics.of(document.docno, 1)
        return padded([document_model, corpus, *bigrams, *in_fields, topical])

    def mixture_scores(self, query, weights_of, *, everyone=False):
        words, before = [], None
        known = {word for document in self.documents for word in f"{document.title} {document.body}".split()}
        for word in query.split():
            if word in known:
                words.append((word, before))
            before = word if word in known else None
        return {
            document.docno: sum(math.log(weights_of(document.docno) @ self.models(document, *word)) for word in words)
            for document in self.documents
            if words and (everyone or {word for word, _ in words} & set(f"{document.title} {document.body}".split()))
        }


def padded(weights):
    return np.array([*weights, *[0.0] * (len(COMPONENTS) - len(weights))])


def own_weights(documents, seed):
    """Weights of their own for every other document, and for one that no index has."""
    names = [*(document.docno for document in documents[::2]), "nowhere"]
    rows = np.random.default_rng(seed).dirichlet(np.ones(6), len(names))
    return DocumentWeights(tuple(names), np.column_stack([rows, np.zeros((len(names), len(COMPONENTS) - 6))]))


corpora = st.builds(
    random_documents,
    seed=st.integers(0, 10**6),
    n_docs=st.integers(1, 40),
    words=st.integers(1, len(WORDS)).map(lambda n: WORDS[:n]),
    longest=st.sampled_from([1, 3, 12]),
)
queries = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=5).map(" ".join)


@settings(max_examples=examples(12))
@given(documents=corpora, query=queries, words_per_shard=st.sampled_from([None, 20]), k=st.sampled_from([1, 3, None]))
def test_searches_find_what_the_formula_says(indexed, documents, query, words_per_shard, k):
    slow = SlowMixture(documents)
    different = replace(slow, alike=False)
    own = own_weights(documents, 1)
    with indexed(documents, words_per_shard=words_per_shard) as folder:
        for compiled in (True, False):
            with SearchEngine(folder, compiled=compiled) as engine:
                for scorer in MIXTURES:
                    expected = slow.mixture_scores(query, lambda docno: padded(scorer.weights))  # noqa: B023
                    slow.assert_found(engine.search(query, k=k, scorer=scorer), expected, k)
                trained = TrainedMixture(*FIELDS.weights, document_weights=own)  # type: ignore[misc]
                expected = slow.mixture_scores(query, lambda docno: _row(own, docno, FIELDS))
                different.assert_found(engine.search(query, k=k, scorer=trained), expected, k)
                topical = TrainedMixture(0.1, 0.2, 0.1, 0.1, 0.1, 0, topics=0.4, topic_model=Topics(engine.snapshot))
                weights = np.array(topical.weights)
                expected = slow.mixture_scores(query, lambda docno: weights, everyone=True)  # noqa: B023
                different.assert_found(engine.search(query, k=k, scorer=topical), expected, k)


def _row(own, docno, shared):
    found = own.of(docno)
    return padded(shared.weights) if found is None else found


@settings(max_examples=examples(8))
@given(documents=corpora, query=queries)
def test_own_weights_of_unigrams_count_on_the_fast_path_too(indexed, documents, query):
    slow = SlowMixture(documents, alike=False)
    names = tuple(document.docno for document in documents[::2])
    rows = np.random.default_rng(3).dirichlet(np.ones(2), len(names))
    own = DocumentWeights(names, np.column_stack([rows, np.zeros((len(names), len(COMPONENTS) - 2))]))
    scorer = TrainedMixture(0.3, 0.7, document_weights=own)
    assert scorer.is_unigram
    expected = slow.mixture_scores(query, lambda docno: _row(own, docno, Mixture(0.3, 0.7)))
    with indexed(documents, words_per_shard=15) as folder, SearchEngine(folder) as engine:
        slow.assert_found(engine.search(query, k=5, scorer=scorer), expected, 5)
        for docno in expected:
            # A tree is scored by unigrams, each document by its own weights, and explained by them.
            hits = engine.search(f"docno:{docno} AND ({query})", scorer=scorer, syntax="full")
            explained = engine.explain(hits.query, docno, scorer=scorer).score
            assert hits.scores.tolist() == pytest.approx([explained])
            assert explained == pytest.approx(expected[docno], abs=CLOSE)


def test_deleted_documents_count_for_nothing(build):
    documents = random_documents(7, 40, WORDS, 12)
    folder = build(documents, words_per_shard=40)
    deleted = [document.docno for document in documents[::3]]
    delete(folder, deleted)
    live = [document for document in documents if document.docno not in deleted]
    fresh = build(live)
    with SearchEngine(folder) as engine, SearchEngine(fresh) as other:
        for scorer in MIXTURES:
            ours, theirs = (e.search("a b b c", k=None, scorer=scorer) for e in (engine, other))
            assert ours.docnos == theirs.docnos
            assert ours.scores.tolist() == theirs.scores.tolist()


def test_bigrams_by_hand(build):
    # "heat flow" twice in x (three times heat), once in y; not across title and body of z; "of" is a word here.
    folder = build(
        [
            Document("x", "heat flow", "heat flow heat"),
            Document("y", "", "flow of heat flow"),
            Document("z", "heat", "flow"),
        ]
    )
    with SearchEngine(folder) as engine:
        query = engine.parse("heat flow")
        words = engine.reader.shared(MixtureComponents).words(query)
        assert [(word.term, word.previous, word.count) for word in words] == [("heat", None, 1), ("flow", "heat", 1)]
        places = np.array([engine.snapshot.locate(docno) for docno in "xyz"])
        found = engine.reader.shared(MixtureComponents).probabilities(words, places[:, 0], places[:, 1])
    names = list(COMPONENTS)
    # heat: 3 of 5 words of x; 5 of 11 words in all. A first word's bigrams are its unigrams.
    assert found[0, 0].tolist() == pytest.approx([3 / 5, 5 / 11, 3 / 5, 5 / 11, 1 / 2, 2 / 3, 0, 0, 0])
    assert found[:, 1, names.index("document_bigram")].tolist() == pytest.approx([2 / 3, 1, 0])
    assert found[:, 1, names.index("corpus_bigram")].tolist() == pytest.approx([3 / 5] * 3)
    assert found[:, 1, names.index("body")].tolist() == pytest.approx([1 / 3, 2 / 4, 1])


def test_a_word_after_an_unknown_one_stands_alone_and_repeats_keep_their_neighbours(build):
    with SearchEngine(build([Document("x", "", "a b c a")])) as engine:
        words = engine.reader.shared(MixtureComponents).words(engine.parse("a b unheard b a b"))
    assert [(word.term, word.previous, word.count) for word in words] == [
        ("a", None, 1),
        ("a", "b", 1),
        ("b", "a", 2),
        ("b", None, 1),
    ]


def test_words_that_an_expansion_adds_have_none_before_them(build):
    with SearchEngine(build(random_documents(2, 30, WORDS, 12))) as engine:
        query = Pipeline(engine, UNI_BI, expansion=RM3(documents=3, terms=4, weight=0.4)).start("a b").expanded_query
        words = engine.reader.shared(MixtureComponents).words(query)
        assert {word.term for word in words if word.previous is not None} == {"b"}
        assert sum(word.count for word in words) == pytest.approx(sum(term.count for term in query.terms))
        hits = engine.search(query, scorer=UNI_BI)
        assert [engine.explain(query, docno, scorer=UNI_BI).score for docno in hits.docnos] == pytest.approx(
            hits.scores.tolist()
        )


def test_an_explanation_is_the_score(build):
    documents = random_documents(5, 40, WORDS, 12)
    with SearchEngine(build(documents, words_per_shard=50)) as engine:
        topical = TrainedMixture(0.1, 0.3, 0.1, 0.1, 0.1, 0.1, topics=0.2, topic_model=Topics(engine.snapshot))
        own = TrainedMixture(*FIELDS.weights, document_weights=own_weights(documents, 4))  # type: ignore[misc]
        for scorer in (*MIXTURES, topical, own):
            hits = engine.search("a b a", k=10, scorer=scorer)
            assert len(hits)
            for docno, score in zip(hits.docnos, hits.scores, strict=True):
                explanation = engine.explain("a b a", docno, scorer=scorer)
                assert explanation.score == pytest.approx(score)
    parts = {part.label for part in explanation.parts}
    assert parts == {"a", "b (after a)", "a (after b)"}


def test_filters_and_trees(build):
    documents = random_documents(6, 30, WORDS, 12)
    with SearchEngine(build(documents)) as engine:
        everything = engine.search("a b", k=None, scorer=FIELDS)
        chosen = everything.docnos[4]
        hits = engine.search("a b", scorer=FIELDS, filters=[f"docno={chosen}"])
        assert (hits.docnos, hits.scores.tolist()) == ([chosen], [everything.scores[4]])
        # A tree is scored by unigrams: those of FIELDS weigh 0.6 and 0.4.
        tree = engine.search("a AND b", k=None, scorer=FIELDS, syntax="full")
        plain = engine.search("a AND b", k=None, scorer=JelinekMercer(0.4), syntax="full")
        assert tree.docnos == plain.docnos
        assert tree.scores.tolist() == pytest.approx(plain.scores.tolist())


def test_unigrams_alone_are_jelinek_mercer_to_the_last_bit(build):
    with SearchEngine(build(random_documents(6, 40, WORDS, 12))) as engine:
        for scorer in (Mixture(0.75, 0.25), TrainedMixture(0.75, 0.25)):
            ours, theirs = (engine.search("a b c", scorer=each) for each in (scorer, JelinekMercer(0.25)))
            assert ours.docnos == theirs.docnos
            assert ours.scores.tolist() == theirs.scores.tolist()


@pytest.mark.parametrize("scorer", [UNI_BI, FIELDS])
def test_a_single_text_is_refused_for_more_than_unigrams(build, scorer):
    with SearchEngine(build([Document("x", "a", "b")])) as engine:
        with pytest.raises(SettingError, match="reads all of a text: expected stream both, found title"):
            engine.search("a", scorer=scorer, stream="title")
        assert engine.search("a", scorer=Mixture(), stream="title").docnos == ["x"]


def test_wrong_weights_of_a_trained_mixture_are_refused():
    with pytest.raises(SettingError, match="topics have a weight, expected a topic model"):
        TrainedMixture(0.3, 0.3, topics=0.4)
    with pytest.raises(SettingError, match=r"sum to 0\.9, expected 1"):
        TrainedMixture(0.3, 0.3, topics=0.3, topic_model=Topics(None))
    row = padded([0.5, 0.5])[None]
    with pytest.raises(SettingError, match="nothing to the models of documents"):
        TrainedMixture(0, 1, document_weights=DocumentWeights(("x",), row))
    for wrong in (padded([0.5, 0.4]), padded([1.5, -0.5]), padded([1]), padded([np.nan])):
        with pytest.raises(SettingError, match=r"^weights of document x: .*expected numbers from 0 that sum to 1"):
            DocumentWeights(("x",), np.array([wrong], float))
    with pytest.raises(SettingError, match="weights of documents"):
        DocumentWeights(("x", "y"), row)


def test_damaged_tokens_are_reported(build):
    with SearchEngine(build([Document("x", "", "a b"), Document("y", "", "a b c")])) as engine:
        columns = engine.snapshot.shards[0].columns
        object.__setattr__(columns, "token_offsets", Column(columns.token_offsets.whole + 10**6))
        with pytest.raises(IndexCorrupt, match="a column is damaged"):
            engine.search("a b", scorer=UNI_BI)
