"""nDCG of one query, beside its results and in comparisons."""

import math

import pytest

from searchlab.web.api.search.compare import compare_systems
from searchlab.web.api.search.search import search_documents
from tests.web.judged_app import judge

SEARCH = {"q": "w0", "system": "bm25", "k": 10, "page": 1, "filter": [], "judge": "ann"}


def test_the_quality_of_a_ranking_is_its_ndcg_by_all_judges(state):
    assert search_documents(state, **SEARCH)["quality"] is None
    docnos = [hit["docno"] for hit in search_documents(state, **SEARCH)["hits"]]
    judge(state, docnos[1], 2, query="w0")
    judge(state, docnos[0], 0, query="w0")
    judge(state, docnos[0], 1, judge="bob", query="w0")
    # By hand: the only relevant document, by the lower median, is at rank 2: (2/log2 3) / (2/log2 2).
    answer = search_documents(state, **SEARCH)
    quality = answer["quality"]
    assert quality["value"] == pytest.approx(1 / math.log2(3))
    assert (quality["measure"], quality["n_judged"], quality["n_examined"]) == ("nDCG@10", 2, min(len(docnos), 10))
    assert not quality["learnt_from_it"]
    assert [hit["grade"] for hit in answer["hits"]][:3] == [0, 2, None]
    for other in ({"filter": ["year=2000"]}, {"sort": "year:desc"}, {"judge": ""}):
        assert search_documents(state, **SEARCH | other)["quality"] is None


def test_both_sides_of_a_comparison_have_grades_and_quality(state):
    docnos = [hit["docno"] for hit in search_documents(state, **SEARCH)["hits"]]
    judge(state, docnos[0], 1, query="w0")
    answer = compare_systems(state, q="w0", left="bm25", right="tfidf", k=10, filter=[], judge="ann")
    assert answer["left"]["quality"]["value"] == 1
    assert 0 < answer["right"]["quality"]["value"] <= 1
    graded = [{hit["docno"]: hit["grade"] for hit in answer[side]["hits"]} for side in ("left", "right")]
    assert graded[0][docnos[0]] == graded[1][docnos[0]] == 1
