"""Training queries: the documents and the evidence that are gathered for each topic."""

import pytest

from searchlab.errors import SettingError
from searchlab.mixtures.training_queries import gather, name_components
from tests.mixtures.example_collection import QRELS, TOPICS


def test_families_name_components_and_unigrams_are_always_included():
    assert name_components(["title", "bigram"]) == (
        "document",
        "corpus",
        "document_bigram",
        "corpus_bigram",
        "title",
    )
    with pytest.raises(
        SettingError, match=r"unknown component 'trigram'.*bigram, body, ngrams, title, topics, unigram"
    ):
        name_components(["trigram"])


def test_relevant_documents_and_the_best_of_the_others_are_gathered(engine):
    found = gather(engine, TOPICS, QRELS, name_components(["title"]))
    assert found.qids == ("1", "2")
    assert found.skipped == {"without known words": ("3",), "without relevant documents": ("4",)}
    names = [found.docnos[doc] for doc in found.docs]
    # Documents with any word of the query, the relevant ones first; "gone" is not in the index.
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


def test_topics_that_cannot_be_trained_with_are_refused_with_the_reasons(engine):
    with pytest.raises(SettingError, match=r"no query to train with \(1 without known words, 1 without relevant doc"):
        gather(engine, TOPICS[2:], QRELS)
    with pytest.raises(SettingError, match=r"1 whose relevant documents are not in the index"):
        gather(engine, TOPICS[:1], {"1": {"gone": 1}})
    with pytest.raises(SettingError, match="expected a topic model"):
        gather(engine, TOPICS, QRELS, name_components(["topics"]))
