"""Pooling: the order of a pool reveals nothing about systems and ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.judgments.pooling import pool_documents

DOCNOS = [f"d{number}" for number in range(60)]
RANKINGS = st.dictionaries(
    st.text(max_size=3), st.lists(st.sampled_from(DOCNOS), unique=True, max_size=30), min_size=1, max_size=4
)


def test_a_pool_is_the_union_of_the_first_documents():
    rankings = {"bm25": ["a", "b", "c", "d"], "rm3": ["c", "e", "f"], "none": []}
    assert sorted(pool_documents(rankings, 2)) == ["a", "b", "c", "e"]
    assert sorted(pool_documents(rankings, 99)) == ["a", "b", "c", "d", "e", "f"]
    assert pool_documents({}, 5) == []


@given(RANKINGS, st.integers(1, 40), st.randoms(use_true_random=False))
def test_systems_and_ranks_do_not_change_the_order(rankings, depth, chance):
    blind = pool_documents(rankings, depth, qid="q")
    # The same documents, found by other systems at other ranks.
    cut = [list(ranking[:depth]) for ranking in rankings.values()]
    for ranking in cut:
        chance.shuffle(ranking)
    chance.shuffle(cut)
    others = {f"other {place}": ranking for place, ranking in enumerate(cut)}
    assert pool_documents(others, depth, qid="q") == blind
    assert pool_documents({"one": sorted(blind)}, max(len(blind), 1), qid="q") == blind


@given(RANKINGS, RANKINGS)
def test_another_system_keeps_the_order_of_the_other_documents(few, more):
    before = pool_documents(few, 10)
    after = pool_documents({**{f"few {name}": ranking for name, ranking in few.items()}, **more}, 10)
    assert [docno for docno in after if docno in before] == before


def test_the_order_depends_on_seed_and_topic_and_is_reproducible():
    of = {"bm25": DOCNOS}
    orders = [pool_documents(of, 60, seed, qid=qid) for seed in (0, 1) for qid in ("", "1", "2")]
    assert len({tuple(order) for order in orders}) == 6
    assert pool_documents(of, 60, 7, qid="1") == pool_documents(of, 60, 7, qid="1")
    # A recorded order: it must not depend on the process, the version or the machine.
    assert pool_documents({"bm25": ["a", "b", "c", "d", "e"]}, 5, 7, qid="q") == ["b", "a", "c", "e", "d"]


def test_the_order_is_independent_of_the_ranks():
    positions = np.mean(
        [[pool_documents({"a": DOCNOS}, 60, seed).index(docno) for docno in DOCNOS] for seed in range(200)], axis=0
    )
    # The mean position of each document is 29.5 ± 17.3 / sqrt(200) = 1.2.
    assert np.max(np.abs(positions - 29.5)) < 5 * 1.25
    assert abs(np.corrcoef(positions, np.arange(60))[0, 1]) < 0.5


def test_the_hash_separates_topic_and_document():
    of = [f"{number}" for number in range(10, 30)]
    first = pool_documents({"a": [f"1{docno}" for docno in of]}, 20, qid="q")
    second = pool_documents({"a": of}, 20, qid="q1")
    assert [docno[1:] for docno in first] != second


def test_a_depth_below_1_is_an_error():
    with pytest.raises(SettingError, match="depth is 0, expected 1 or more"):
        pool_documents({"a": ["d"]}, 0)
