"""Postings in memory with impact codes, which bound gains from above."""

from bisect import bisect_right

import numpy as np
import pytest

from searchlab.scorers.execution import posting_cache
from searchlab.scorers.execution.impact_kernels import MAX_CODE
from searchlab.scorers.execution.posting_cache import DEPTHS, WINDOW_SIZE, GainFormula, PostingCache
from searchlab.scorers.execution.scoring_plan import DocumentNorms
from searchlab.scorers.gains import SATURATION

N_DOCS = 40
BM25_LIKE = GainFormula(SATURATION, 2.0, 1.0, 0.0)  # a gain is 2·tf/(tf + norm)


class Index:
    """Postings by name, which counts how often each is read."""

    def __init__(self, postings, *, n_postings, dtype=np.uint16, n_docs=N_DOCS):
        self.postings = {name: (np.array(docs), np.array(tfs)) for name, (docs, tfs) in postings.items()}
        self.n_reads = dict.fromkeys(postings, 0)
        self.cache = PostingCache(self.read, n_postings, n_docs, np.dtype(dtype))

    def read(self, name):
        self.n_reads[name] += 1
        return self.postings[name]


def postings_in(block, name):
    start, end, _ = block.spans[name]
    return block.documents(name).tolist(), block.tfs[start:end].tolist()


def norms_of(numbers):
    return DocumentNorms.make(np.array(numbers, float), None, None)


def test_postings_are_read_once_and_lie_in_one_block():
    index = Index({"a": ([1, 5], [1, 2]), "b": ([0], [7]), "c": ([2, 3, 4], [1, 1, 1])}, n_postings=6)
    first = index.cache.hold(["a", "b"])
    second = index.cache.hold(["b", "c"])
    assert second is first
    assert [postings_in(second, name) for name in "abc"] == [([1, 5], [1, 2]), ([0], [7]), ([2, 3, 4], [1, 1, 1])]
    assert set(index.n_reads.values()) == {1}


def test_a_full_block_is_left_to_those_who_read_it_and_a_new_one_begun(monkeypatch):
    monkeypatch.setattr(posting_cache, "MAX_POSTINGS", 4)
    index = Index({"a": ([1, 5], [1, 2]), "b": ([0, 2], [7, 1]), "c": ([3], [4])}, n_postings=100)
    first = index.cache.hold(["a", "b"])
    second = index.cache.hold(["c", "a"])
    assert second is not first
    assert [postings_in(first, name) for name in "ab"] == [([1, 5], [1, 2]), ([0, 2], [7, 1])]
    assert [postings_in(second, name) for name in "ac"] == [([1, 5], [1, 2]), ([3], [4])]
    assert "b" not in second.spans
    assert index.cache.hold(["a"]) is second


def test_a_query_that_no_block_has_room_for_gets_a_larger_one(monkeypatch):
    monkeypatch.setattr(posting_cache, "MAX_POSTINGS", 2)
    index = Index({"a": ([1, 5], [1, 2]), "b": ([0, 2, 4], [7, 1, 1])}, n_postings=100)
    block = index.cache.hold(["a", "b"])
    assert [postings_in(block, name)[0] for name in "ab"] == [[1, 5], [0, 2, 4]]


def test_a_block_has_room_for_so_many_terms(monkeypatch):
    monkeypatch.setattr(posting_cache, "MAX_TERMS", 2)
    index = Index({name: ([1], [1]) for name in "abc"}, n_postings=100)
    first = index.cache.hold(["a", "b"])
    assert set(first.spans) == {"a", "b"}
    assert set(index.cache.hold(["b", "c"]).spans) == {"b", "c"}


def test_a_table_of_windows_is_bounded(monkeypatch):
    monkeypatch.setattr(posting_cache, "MAX_WINDOW_BYTES", 2 * 8 * 4)  # of two terms: three windows, and their end
    index = Index({name: ([1], [1]) for name in "abc"}, n_postings=100, n_docs=2 * WINDOW_SIZE + 1)
    first = index.cache.hold(["a", "b"])
    assert first.windows.shape == (2, 4)
    assert set(index.cache.hold(["b", "c"]).spans) == {"b", "c"}
    assert len(index.cache.hold(["a", "b", "c"]).windows) == 3


def test_windows_begin_at_their_first_documents():
    docs = [0, WINDOW_SIZE - 1, WINDOW_SIZE, 3 * WINDOW_SIZE]
    index = Index({"a": ([9], [1]), "b": (docs, [1] * 4)}, n_postings=5, n_docs=3 * WINDOW_SIZE + 1)
    block = index.cache.hold(["a", "b"])
    assert block.windows[:2].tolist() == [[0, 1, 1, 1, 1], [1, 3, 4, 4, 5]]
    assert block.docs.tolist() == [9, 0, WINDOW_SIZE - 1, 0, 0]
    assert block.documents("b").tolist() == docs


def test_codes_are_the_share_of_the_largest_gain_rounded_up():
    # By hand: norms of 2 give gains of 2·tf/(tf + 2) = 2/3, 1 and 6/5; 255 · gain / 1.2 is 141.7, 212.5 and 255.
    index = Index({"a": ([3, 4, 8], [1, 2, 3])}, n_postings=3)
    impacts = index.cache.hold(["a"]).impacts_of(index)
    found = impacts.add("a", norms_of([2] * N_DOCS), BM25_LIKE)
    assert impacts.arrays.codes.tolist() == [142, 213, 255]
    assert found.max_gain == pytest.approx(1.2, rel=1e-9)
    # One document has the code 255, three have 142 or more: their gains are at least 254 and 141 of 255.
    assert found.best[:2] == pytest.approx((1.2 * 254 / 255, 1.2 * 141 / 255))
    assert len(found.best) == 2  # 10 documents do not have it


def test_codes_bound_gains_from_both_sides():
    chance = np.random.default_rng(5)
    tfs, norms = chance.integers(1, 30, N_DOCS), chance.uniform(0.2, 9, N_DOCS)
    index = Index({"a": (np.arange(N_DOCS), tfs)}, n_postings=N_DOCS)
    impacts = index.cache.hold(["a"]).impacts_of(index)
    found = impacts.add("a", norms_of(norms), BM25_LIKE)
    gains, codes = 2 * tfs / (tfs + norms), impacts.arrays.codes.astype(float)
    assert found.max_gain >= gains.max()
    assert (codes * found.max_gain / MAX_CODE >= gains).all()
    assert ((codes - 1) * found.max_gain / MAX_CODE <= gains).all()
    assert len(found.best) == bisect_right(DEPTHS, N_DOCS)
    for depth, reached in zip(DEPTHS, found.best, strict=False):
        assert np.count_nonzero(gains >= reached) >= min(depth, N_DOCS)


def test_each_scorer_has_its_own_codes_for_the_same_postings():
    index = Index({"a": ([3, 4], [1, 2])}, n_postings=2)
    block, other = index.cache.hold(["a"]), object.__new__(Index)
    short, long = ([1] * N_DOCS, [9] * N_DOCS)
    block.impacts_of(index).add("a", norms_of(short), BM25_LIKE)
    block.impacts_of(other).add("a", norms_of(long), BM25_LIKE)
    first, second = block.impacts_of(index).arrays, block.impacts_of(other).arrays
    assert first.docs is second.docs
    assert first.codes.tolist() != second.codes.tolist()


@pytest.mark.parametrize(
    ("tfs", "dtype", "expected"),
    [([3, 254, 400], np.uint16, [3, 254, 255]), ([1.5, 2.0, 9e9], np.float64, [255, 2, 255])],
)
def test_frequent_terms_have_rows_with_small_frequencies(tfs, dtype, expected):
    docs = [2, 7, 30]
    index = Index({"a": (docs, tfs), "b": ([1], [1])}, n_postings=4, dtype=dtype)
    impacts = index.cache.hold(["a", "b"]).impacts_of(index)
    dense, rare = (impacts.add(name, norms_of([1] * N_DOCS), BM25_LIKE) for name in "ab")
    assert (dense.row, rare.row) == (0, -1)
    assert impacts.arrays.tf_rows[0, docs].tolist() == expected
    assert impacts.arrays.code_rows[0, docs].tolist() == impacts.arrays.codes[dense.start : dense.end].tolist()
    assert np.count_nonzero(impacts.arrays.code_rows) == np.count_nonzero(impacts.arrays.tf_rows) == 3


def test_biases_have_codes_that_bound_them_from_above():
    biases = np.array([-3.0, -1.0, -2.0, 50.0])
    norms = norms_of([1] * 4).with_biases(biases, np.array([True, True, True, False]))
    assert (norms.min_bias, norms.max_bias) == (-3.0, -1.0)
    bounds = -3.0 + norms.bias_codes[:3] * 2.0 / 255
    assert (bounds >= biases[:3]).all()
    assert (bounds - biases[:3] <= 2.0 / 255 + 1e-9).all()
