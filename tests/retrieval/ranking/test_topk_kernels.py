"""The pruning kernel finds what scoring all documents finds."""

import numpy as np
import pytest

from searchlab.indexing.building.deletion import delete
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.ranking.topk_kernels import LOOKUP_HYSTERESIS, _count_read_terms
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.execution import posting_cache
from searchlab.scorers.execution.posting_cache import WINDOW_SIZE
from tests.retrieval.reference import POSTING_SCORERS

N_DOCS = 20_000
VOCABULARY = 2_000


@pytest.fixture(scope="session")
def many_documents():
    """Short documents over words w0, w1, … of falling frequency (Zipf), by a fixed seed."""
    chance = np.random.default_rng(20_000)
    odds = 1 / np.arange(1, VOCABULARY + 1)
    words = np.array([f"w{number}" for number in range(VOCABULARY)])
    lengths = chance.integers(1, 25, N_DOCS)
    drawn = words[chance.choice(VOCABULARY, lengths.sum(), p=odds / odds.sum())]
    texts = np.split(drawn, np.cumsum(lengths)[:-1])
    # Every fifth document is a copy of its neighbour: ties everywhere.
    return [
        Document(f"doc{number:05}", " ".join(texts[number - (number % 5 == 1)][:2]), " ".join(text[2:]))
        for number, text in enumerate(texts)
    ]


@pytest.fixture(scope="session")
def medium(build, many_documents):
    """The same documents as one shard and as several, with the kernel and without."""
    folders = [build(many_documents), build(many_documents, words_per_shard=90_000)]
    pairs = [tuple(SearchEngine(folder, compiled=compiled) for compiled in (True, False)) for folder in folders]
    assert [len(engine.snapshot.shards) for engine, _ in pairs] == [1, 3]
    assert pairs[0][0].snapshot.shards[0].columns.n_docs > 2 * WINDOW_SIZE
    return pairs


QUERIES = [
    "w0",
    "w1999",
    "w0 w1",
    "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9",
    "w0 w1500 w30",
    "w900 w901 w902",
    "w3 w3 w3 w700 w12 w0 w1 unknown",
    "w50 w60 w70 w80 w1000",
    " ".join(f"w{number}" for number in range(1, VOCABULARY, 30)),
]


@pytest.mark.parametrize("name", POSTING_SCORERS)
@pytest.mark.parametrize("k", [1, 10, 100, 1000, None])
def test_pruning_changes_nothing(medium, name, k):
    scorer = POSTING_SCORERS[name]()
    for pruned, unpruned in medium:
        for query in QUERIES if k else QUERIES[1::3]:
            found, expected = (engine.search(query, k=k, scorer=scorer) for engine in (pruned, unpruned))
            assert len(found) == len(expected) > 0
            assert found.scores == pytest.approx(expected.scores, abs=1e-9, rel=1e-9)
            all_scores = dict(zip(found.docnos, found.scores, strict=True))
            if found.docnos == expected.docnos:
                continue
            # Where the order differs, only rounding may have decided.
            for docno, score in zip(expected.docnos, expected.scores, strict=True):
                if docno in all_scores:
                    assert all_scores[docno] == pytest.approx(score, abs=1e-9)
                else:
                    assert score == pytest.approx(expected.scores[-1], abs=1e-9)


@pytest.mark.parametrize("scorer", [BM25(), BM25F(), *(POSTING_SCORERS[name]() for name in ("dirichlet", "tfidf"))])
@pytest.mark.parametrize("query", QUERIES)
def test_the_k_best_are_the_first_of_all(medium, scorer, query):
    for pruned, _ in medium:
        everything = pruned.search(query, k=None, scorer=scorer)
        for k in (1, 2, 7, 50, 333, len(everything)):
            hits = pruned.search(query, k=k, scorer=scorer)
            assert hits.docnos == everything.docnos[:k]
            assert hits.scores.tolist() == everything.scores[:k].tolist()


@pytest.mark.parametrize("scorer", ["bm25", "dirichlet"])
@pytest.mark.parametrize("k", [10, 1000])
def test_many_terms_with_weights_are_pruned_exactly(medium, scorer, k):
    expansion = RM3()
    for pruned, unpruned in medium:
        for text in QUERIES[::3]:
            best = pruned.search(text, k=10)
            query = expansion.expand(best.query, expansion.estimate(pruned, best))
            assert len(query.terms) > 15
            found, expected = (engine.search(query, k=k, scorer=scorer) for engine in (pruned, unpruned))
            assert found.docnos == expected.docnos
            assert found.scores.tolist() == expected.scores.tolist()


def test_deleted_documents_are_not_found(build, many_documents):
    folder = build(many_documents[:3000], words_per_shard=9_000)
    engine = SearchEngine(folder)
    everything = [set(engine.search(query, k=None).docnos) for query in QUERIES]
    gone = set(engine.search("w0 w1 w2", k=500).docnos)
    delete(folder, sorted(gone))
    pruned, unpruned = (SearchEngine(folder, compiled=compiled) for compiled in (True, False))
    assert any(shard.live is not None for shard in pruned.snapshot.shards)
    for query, before in zip(QUERIES, everything, strict=True):
        assert set(pruned.search(query, k=None).docnos) == before - gone
        for scorer in ("bm25", "dirichlet", "absolute"):
            found, expected = (engine.search(query, k=20, scorer=scorer) for engine in (pruned, unpruned))
            assert found.docnos == expected.docnos
            assert found.scores.tolist() == expected.scores.tolist()


def test_rankings_do_not_depend_on_the_room_for_postings(medium, monkeypatch):
    monkeypatch.setattr(posting_cache, "MAX_POSTINGS", 20_000)
    monkeypatch.setattr(posting_cache, "MAX_ROW_BYTES", 1 << 16)
    for engine, _ in medium:
        cramped = SearchEngine(engine.snapshot.folder)
        for query in QUERIES * 2:
            found, expected = (each.search(query, k=30) for each in (cramped, engine))
            assert found.docnos == expected.docnos
            assert found.scores.tolist() == expected.scores.tolist()


def test_frequencies_that_no_row_holds_are_looked_up(build):
    bodies = ["often " * n + "other" for n in (1, 254, 255, 256, 1000)] * 3
    folder = build(Document(f"{number:02}", "", body) for number, body in enumerate(bodies))
    pruned, unpruned = (SearchEngine(folder, compiled=compiled) for compiled in (True, False))
    found, expected = (engine.search("often other", k=12) for engine in (pruned, unpruned))
    assert found.docnos == expected.docnos
    assert found.scores.tolist() == expected.scores.tolist()


@pytest.mark.parametrize("stream", ["title", "body"])
def test_pruning_changes_nothing_in_a_single_field(medium, stream):
    for pruned, unpruned in medium:
        for query in QUERIES:
            found, expected = (engine.search(query, k=20, stream=stream) for engine in (pruned, unpruned))
            assert found.docnos == expected.docnos
            assert found.scores.tolist() == expected.scores.tolist()


EDGES = [0, WINDOW_SIZE - 1, WINDOW_SIZE, 2 * WINDOW_SIZE - 1, 2 * WINDOW_SIZE]


@pytest.fixture(scope="module")
def windows(build):
    """Two windows of documents and one more, with rare words at the edges of windows."""

    def body(number):
        return " ".join(["every"] + ["edge"] * (number in EDGES) + ["last"] * (number == EDGES[-1]))

    return SearchEngine(build(Document(f"{number:05}", "", body(number)) for number in range(2 * WINDOW_SIZE + 1)))


@pytest.mark.parametrize("name", POSTING_SCORERS)
@pytest.mark.parametrize("k", [1, 3, 5, 6, None])
def test_documents_at_the_edges_of_windows_are_found(windows, name, k):
    hits = windows.search("edge", k=k, scorer=POSTING_SCORERS[name]())
    found = sorted(map(int, hits.docnos), reverse=True)
    assert set(found) <= set(EDGES)
    assert len(found) == min(k or len(EDGES), len(EDGES))


@pytest.mark.parametrize("name", POSTING_SCORERS)
def test_the_best_documents_are_found_in_the_last_window(windows, name):
    hits = windows.search("last every edge edge", k=5, scorer=POSTING_SCORERS[name]())
    assert int(hits.docnos[0]) == EDGES[-1]
    assert {int(docno) for docno in hits.docnos} == set(EDGES)


@pytest.mark.parametrize("name", POSTING_SCORERS)
def test_of_ties_over_all_windows_the_last_docnos_are_found(windows, name):
    n_docs = len(windows)
    hits = windows.search("every", k=2 * WINDOW_SIZE - 10, scorer=POSTING_SCORERS[name]())
    plain = [number for number in range(n_docs - 1, -1, -1) if number not in EDGES]
    found = [int(docno) for docno in hits.docnos if int(docno) not in EDGES]
    assert found == plain[: len(found)]
    assert len(found) >= len(hits) - len(EDGES)


@pytest.mark.parametrize(
    ("n_extra", "n_looked_up", "expected"),
    [
        (0, 0, 2),  # nothing was looked up: only essential terms are read
        (0, 10, 2),  # the third term has 10 postings, no fewer than documents were looked up
        (0, 11, 3),  # reading it is cheaper; of the 5 documents that then remain, none is worth 20 postings
        (0, 100, 4),  # 100 > 10, 50 > 20, 25 < 30
        (1, 2, 3),  # a term that was read stays so
        (1, 1, 2),  # until it has 8 times as many postings as documents were looked up
        (9, 100, 5),  # fewer terms are left than were read before
    ],
)
def test_terms_are_read_that_have_fewer_postings_than_there_are_lookups(n_extra, n_looked_up, expected):
    # Five terms in a window, of which two are essential; the places of the last three have 10, 20 and 30 postings.
    windows = np.array([[0, 500], [500, 530], [530, 550], [550, 560], [560, 900]])
    places = np.array([0, 4, 3, 2, 1])
    assert LOOKUP_HYSTERESIS == 8
    assert _count_read_terms(windows, places, 0, 2, n_extra, n_looked_up) == expected


def test_a_search_leaves_nothing_behind_for_the_next(windows):
    first = windows.search("edge last", k=3)
    for query in ("every", "last every", "edge every edge", "last"):
        windows.search(query, k=1)
    again = windows.search("edge last", k=3)
    assert again.docnos == first.docnos
    assert again.scores.tolist() == first.scores.tolist()
