"""Descriptions: one for every feature, distinct within a family."""

from collections import defaultdict

import pytest

from searchlab.features.catalogue import CATALOGUE
from searchlab.features.descriptions import describe_feature


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_feature_has_a_description(name):
    assert describe_feature(name)
    assert "{" not in describe_feature(name)


def test_features_of_a_family_have_different_descriptions():
    names_of = defaultdict(list)
    for name in CATALOGUE:
        names_of[name.partition(".")[0], describe_feature(name)].append(name)
    assert [names for names in names_of.values() if len(names) > 1] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("letor.title.bm25", "BM25 of the title"),
        ("ordrank.title.H1", "BM25 of the title"),
        ("semantic.both.rm3_50", "nearness in meaning to the best documents by RM3 (50 dimensions)"),
        ("neighbours.both.bm25_5", "BM25 of the 5 most similar candidates"),
        (
            "neighbours.both.smoothed_words_3",
            "BM25, the document mixed with the 3 candidates with most words in common",
        ),
        ("query.both.length", "length of the query, stop words left out"),
        # A sum over all words of the query, and sums over those that occur in the document.
        ("letor.title.log_idf", "how rare the query's words are in the title, by documents (log)"),
        ("table1.title.log_idf", "how rare those words of the query are that the title has, by documents (log)"),
        ("nallapati.body.icf", "how rare those words of the query are that the body has, by occurrences"),
        ("ordrank.body.L5", "how rare those words of the query are that the body has, by documents"),
        ("ordrank.body.L6", "tf·idf, in the whole collection, of those words of the query that the body has"),
        # The larger, the farther.
        ("near.body.distance", "distance of the nearest two different words of the query in the body"),
        ("doc.body.length", "length of the body"),
    ],
)
def test_descriptions_of_some_features(name, words):
    assert describe_feature(name) == words


@pytest.mark.parametrize(
    "name", ["", "lymphoma", "title:cell", "letor.title.nothing", "a.b.c", "semantic.both.x_50", "neighbours.both.x_5"]
)
def test_unknown_features_have_no_description(name):
    assert describe_feature(name) == ""
