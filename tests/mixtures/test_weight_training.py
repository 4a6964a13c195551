"""Is evidence what the formula needs, is it gathered rightly, and are weights kept with what they are for?"""

import json
import math

import numpy as np
import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import InputError, SettingError, SourceError
from searchlab.indexing.building.indexer import delete
from searchlab.mixtures.likelihood import Evidence, check_weights, join, log_likelihoods, one_query, raise_least
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.mixtures.weight_training import Learnt, learn_em, learn_mce
from searchlab.mixtures.weights import MixtureWeights, read_weights, write_weights
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.execution.mixture_components import COMPONENTS
from searchlab.topic_models.topic_model_store import build_topics

DOCS = [
    Document("a", "heat flow", "heat transfer in laminar flow over wings"),
    Document("b", "wings", "lift of wings in flow"),
    Document("c", "", "prison cells and heat"),
    Document("d", "lift", "flow around bodies"),
    Document("e", "heat", "cells"),
]
TOPICS = [Topic("1", "heat flow"), Topic("2", "lift of wings"), Topic("3", "unheard"), Topic("4", "cells")]
QRELS = {"1": {"a": 2, "c": 0, "gone": 1}, "2": {"b": 1, "d": 1}, "3": {"a": 1}, "4": {"b": 0}}


@pytest.fixture(scope="module")
def engine(build):
    with SearchEngine(build(DOCS, words_per_shard=12)) as engine:
        yield engine


def example():
    """Two queries: one of two words in two documents, one of a repeated word in one."""
    first = one_query(
        np.array([[[0.5, 0.1], [0.0, 0.2]], [[0.2, 0.1], [0.4, 0.2]]]), np.array([1.0, 1.0]), np.array([True, False])
    )
    second = one_query(np.array([[[0.3, 0.1]]]), np.array([2.0]), np.array([True]))
    return join([first, second])


def test_likelihoods_by_hand():
    found = log_likelihoods(example(), np.array([[0.75, 0.25]]))
    # 0.75·0.5 + 0.25·0.1 = 0.4 and 0.05; 0.175 and 0.35; 0.25 twice.
    assert found.tolist() == pytest.approx([math.log(0.4 * 0.05), math.log(0.175 * 0.35), 2 * math.log(0.25)])


def test_groups_have_their_own_weights():
    evidence = example()
    grouped = Evidence(
        evidence.probabilities,
        evidence.counts,
        evidence.pair_offsets,
        evidence.query_offsets,
        evidence.relevant,
        np.array([1, 0, 1]),
    )
    weights = np.array([[0.75, 0.25], [0.5, 0.5]])
    # By the second weights: 0.3·0.1 and 0.2²; by the first as above.
    assert log_likelihoods(grouped, weights).tolist() == pytest.approx(
        [math.log(0.03), math.log(0.175 * 0.35), 2 * math.log(0.2)]
    )


def test_queries_can_be_taken_and_relevant_documents_alone():
    evidence = example()
    last = evidence.take([1])
    assert (last.n_queries, last.n_pairs, last.counts.tolist()) == (1, 1, [2.0])
    swapped = evidence.take([1, 0])
    assert swapped.lengths.tolist() == [2, 2, 2]
    assert swapped.probabilities[0].tolist() == [0.3, 0.1]
    assert swapped.is_contrast.tolist() == [False, True]
    relevant = evidence.only_relevant()
    assert relevant.relevant.tolist() == [True, True]
    assert relevant.probabilities.tolist() == [[0.5, 0.1], [0.0, 0.2], [0.3, 0.1]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.4], "the sum is 0.9, expected 1"),
        ([1.5, -0.5], "-0.5, expected numbers from 0"),
        ([math.nan, 1], "nan, expected numbers from 0"),
        ([0.2, 0.3, 0.5], "3 numbers, expected 2"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    with pytest.raises(SettingError, match=message):
        check_weights(weights, 2)


def test_no_weight_is_below_the_least():
    raised = raise_least(np.array([[1.0, 0.0]]), 0.25)
    assert raised.tolist() == [[0.8, 0.2]]


def test_evidence_that_does_not_fit_together_is_refused():
    with pytest.raises(SettingError, match="the pair offsets do not rise from 0 to 2 in 1 steps"):
        Evidence(np.ones((2, 2)), np.ones(2), np.array([0, 1]), np.array([0, 1]), np.array([True]), np.array([0]))
    with pytest.raises(SettingError, match="expected at least one query"):
        join([])


def test_families_name_components_and_unigrams_are_always_there():
    assert name_components(["title", "bigram"]) == (
        "document",
        "corpus",
        "document_bigram",
        "corpus_bigram",
        "title",
    )
    with pytest.raises(SettingError, match=r"unknown component 'trigram'.*bigram, body, title, topics, unigram"):
        name_components(["trigram"])


def test_relevant_documents_and_the_best_of_the_others_are_gathered(engine):
    found = gather(engine, TOPICS, QRELS, name_components(["title"]))
    assert found.qids == ("1", "2")
    assert found.skipped == {"without known words": ("3",), "without relevant documents": ("4",)}
    names = [found.docnos[doc] for doc in found.docs]
    # Documents with any word of the query, the relevant ones first: gone is not in the index.
    assert names[0] == "a"
    assert sorted(names[:5]) == ["a", "b", "c", "d", "e"]
    assert found.evidence.relevant.tolist() == [True, False, False, False, False, True, True, False]
    # heat in a: 2 of 9 words of both texts, 4 of 25 words in all, 1 of 2 of the title.
    assert found.evidence.probabilities[0].tolist() == pytest.approx([2 / 9, 4 / 25, 1 / 2])
    assert found.evidence.lengths.tolist() == [2] * 5 + [3] * 3


def test_depth_bounds_the_irrelevant_documents_of_each_first_search(engine):
    found = gather(engine, TOPICS[:1], QRELS, depth=1)
    assert 2 <= found.evidence.n_pairs <= 4
    with pytest.raises(SettingError, match="depth is 0, expected a whole number from 1"):
        gather(engine, TOPICS, QRELS, depth=0)


def test_nothing_to_train_with_is_told(engine):
    with pytest.raises(SettingError, match=r"no query to train with \(1 without known words, 1 without relevant doc"):
        gather(engine, TOPICS[2:], QRELS)
    with pytest.raises(SettingError, match=r"1 whose relevant documents are not in the index"):
        gather(engine, TOPICS[:1], {"1": {"gone": 1}})
    with pytest.raises(SettingError, match="expected a topic model"):
        gather(engine, TOPICS, QRELS, name_components(["topics"]))


def test_what_training_sees_is_what_searching_scores(engine):
    queries = gather(engine, TOPICS, QRELS, COMPONENTS[:-1])
    learnt = Learnt("em", queries.components, np.array([0.2, 0.3, 0.1, 0.1, 0.2, 0.1]))
    likelihoods = log_likelihoods(queries.evidence, learnt.shared[None])
    hits = engine.search("heat flow", k=None, scorer=learnt.scorer())
    trained = {queries.docnos[doc]: likelihoods[pair] for pair, doc in enumerate(queries.docs[:5])}
    assert dict(zip(hits.docnos, hits.scores, strict=True)) == pytest.approx(trained)


def test_mce_ranks_training_queries_better_than_where_it_began(engine):
    queries = gather(engine, TOPICS, QRELS, name_components(["title", "body"]))
    learnt = learn_mce(queries)
    assert learnt.shared.sum() == pytest.approx(1)
    assert max(learnt.history) >= learnt.history[0]
    own = learn_mce(queries, per_document=True, held_out=0)
    assert sorted(own.docnos) == ["a", "b", "d"]
    assert own.own.shape == (3, 4)
    # Untaught documents keep the shared weights.
    assert own.shared.tolist() == pytest.approx(learnt.shared.tolist())
    assert own.scorer().document_weights.of("c") is None


# Files of weights.


@pytest.fixture
def kept(engine, tmp_path):
    """Weights of their own for two documents, in a file."""
    learnt = Learnt("mce", ("document", "corpus"), np.array([0.3, 0.7]), ("a", "b"), np.array([[0.5, 0.5], [0.1, 0.9]]))
    path = tmp_path / "weights.json"
    write_weights(path, MixtureWeights.of(learnt, engine.snapshot, {"alpha": 5}, 2))
    return path


def test_weights_are_read_as_they_were_written(engine, kept):
    read = read_weights(kept)
    assert (read.n_queries, read.settings, read.learnt.method) == (2, {"alpha": 5}, "mce")
    assert read.remarks(engine.snapshot) == []
    scorer = read.scorer(engine.snapshot)
    assert (scorer.document, scorer.corpus) == (0.3, 0.7)
    assert scorer.document_weights.of("b").tolist() == [0.1, 0.9, 0, 0, 0, 0, 0]
    assert len(engine.search("heat flow", scorer=scorer))


def test_weights_for_another_index_are_refused_or_told(engine, kept, build):
    read = read_weights(kept)
    stemmed = SearchEngine(build(DOCS, settings=AnalysisSettings()))
    with pytest.raises(SettingError, match=r"weights\.json: made for an index with analyser \w+, but .* has \w+$"):
        read.scorer(stemmed.snapshot)
    others = SearchEngine(build([Document("a", "other", "text"), Document("x", "", "words")]))
    with pytest.raises(SettingError, match=r"made for another index; of its 2 documents .* holds none as it was"):
        read.scorer(others.snapshot)
    folder = build([*DOCS, Document("new", "", "heat")])
    delete(folder, ["b"])
    changed = SearchEngine(folder)
    assert read.scorer(changed.snapshot).document_weights is not None
    assert "1 of 2 documents with weights of their own have changed or are gone" in read.remarks(changed.snapshot)[-1]
    hits = changed.search("heat flow", scorer=read.scorer(changed.snapshot), k=None)
    assert [
        changed.explain("heat flow", docno, scorer=read.scorer(changed.snapshot)).score for docno in hits.docnos
    ] == (pytest.approx(hits.scores.tolist()))


def test_weights_with_topics_ask_for_these_topics(build, tmp_path):
    folder = build(DOCS * 1)
    build_topics(folder, n_topics=2)
    with SearchEngine(folder) as engine:
        from searchlab.topic_models.topic_model_store import open_topics

        model = open_topics(engine.snapshot)
        queries = gather(engine, TOPICS, QRELS, name_components(["topics"]), topic_model=model)
        learnt = learn_em(queries)
        write_weights(tmp_path / "w.json", MixtureWeights.of(learnt, engine.snapshot, {}, 2))
        read = read_weights(tmp_path / "w.json")
        hits = engine.search("heat flow", k=None, scorer=read.scorer(engine.snapshot))
        assert len(hits) == len(DOCS)
        likelihoods = log_likelihoods(queries.evidence, learnt.shared[None])
        trained = {queries.docnos[doc]: likelihoods[pair] for pair, doc in enumerate(queries.docs[:5])}
        assert dict(zip(hits.docnos, hits.scores, strict=True)) == pytest.approx(trained)
    build_topics(folder, n_topics=2, seed=5)
    with (
        SearchEngine(folder) as engine,
        pytest.raises(SettingError, match=r"made with topics plsa .*train the weights"),
    ):
        read.scorer(engine.snapshot)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.3, 0.6]}, "the sum is 0.9, expected 1"),
        ({"weights": [1.2, -0.2]}, "-0.2, expected numbers from 0"),
        ({"weights": [1.0, 0.0]}, "corpus has no weight"),
        ({"weights": [0.3, 0.3, 0.4]}, "3 numbers, expected 2"),
        ({"weights": "many"}, "damaged"),
        ({"components": ["document", "corpus", "trigram"]}, "components are document, corpus, trigram; expected"),
        ({"components": ["document"]}, "components are document; expected document, corpus"),
        ({"components": ["document", "document", "corpus"]}, "components are"),
        ({"documents": {"a": {"digest": "", "weights": [0.2, 0.2]}}}, "weights of documents: the sum is 0.4"),
        ({"documents": {"a": [0.2, 0.8]}}, "damaged"),
        ({"version": 2}, "version 2, expected 1"),
        ({"kind": "else"}, "expected weights that `searchlab train-lm` wrote"),
        ({"components": ["document", "corpus", "topics"], "weights": [0.2, 0.3, 0.5], "documents": {}}, "do not fit"),
    ],
)
def test_a_damaged_file_is_told_in_one_line(kept, change, message):
    kept.write_text(json.dumps(json.loads(kept.read_text()) | change))
    with pytest.raises(SourceError, match=message) as caught:
        read_weights(kept)
    assert str(caught.value).startswith(str(kept))
    assert "\n" not in str(caught.value)


def test_what_is_no_file_of_weights_is_told(tmp_path):
    for name, content in (("text", "heat"), ("list", "[]"), ("binary", "\0")):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match="expected weights that"):
            read_weights(tmp_path / name)
    with pytest.raises(SourceError, match="cannot be read"):
        read_weights(tmp_path / "nowhere")
