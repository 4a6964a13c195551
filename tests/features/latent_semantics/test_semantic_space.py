"""Semantic space: vectors against NumPy, folding in, staleness, and damaged or concurrent files."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexMissing,
    IndexOutdated,
    IndexTooNew,
    SettingError,
    StoreError,
)
from searchlab.features.latent_semantics.block_matrix import BlockMatrix
from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space, update_space
from searchlab.features.latent_semantics.space_record import MAX_DIMS
from searchlab.features.latent_semantics.truncated_svd import decompose
from searchlab.indexing import vector_artefact
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.indexing.storage.lock import writer_lock
from searchlab.records import Document
from searchlab.scorers.bm25 import BM25
from searchlab.types import no_progress
from tests.hypothesis_profiles import examples
from tests.indexing.artefact_indexes import CARS, FRUIT, WORDS, add, build_cars_and_fruit, documents


def random_texts(n_docs, n_words=60, seed=7):
    """Texts of random words, frequent and rare; all have the word w1."""
    rng = np.random.default_rng(seed)
    draws = [[1, *rng.zipf(1.3, rng.integers(3, 20)).tolist()] for _ in range(n_docs)]
    return [" ".join(f"w{word}" for word in draw if word < n_words) for draw in draws]


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def small(build, tmp_path):
    """An index of eight documents in several shards."""
    return build_cars_and_fruit(build, tmp_path / "index")


def vector_of(space, docno, dims=None):
    place, number = space.snapshot.locate(docno)
    return space.vectors(np.array([place]), np.array([number]), dims)[0]


def all_vectors(space, dims=None):
    return {docno: vector_of(space, docno, dims) for docno in space.snapshot.docnos()}


def dense_weights(snapshot, least=2):
    """The matrix by the printed formula, document by document and term by term: docnos, terms, weights."""
    texts = {document.docno: f"{document.title} {document.body}".split() for document in snapshot.documents()}
    terms = sorted({term for text in texts.values() for term in text})
    terms = [term for term in terms if snapshot.term_stats("both", term).doc_freq >= least]
    rows = np.zeros((len(texts), len(terms)))
    for i, text in enumerate(texts.values()):
        for j, term in enumerate(terms):
            rows[i, j] = BM25().weigh(text.count(term), len(text), snapshot.term_stats("both", term))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return list(texts), terms, rows / np.where(lengths > 0, lengths, 1)


def test_words_that_never_meet_but_share_their_contexts_are_near(small):
    space = build_space(small, dims=2)
    vectors = {word: space.query_vector({word: 1}) for word in WORDS}
    assert vectors["car"] @ vectors["auto"] > 0.99
    assert vectors["fruit"] @ vectors["apple"] > 0.99
    assert abs(vectors["car"] @ vectors["apple"]) < 0.01
    found = all_vectors(space)
    assert vectors["auto"] @ found["d0002"] > 0.99  # "car road engine"
    assert abs(vectors["auto"] @ found["d0005"]) < 0.01


@pytest.mark.parametrize("n_docs", [8, 40, 90])  # fewer documents than terms, and more
def test_vectors_are_those_of_numpys_decomposition_up_to_their_signs(build, n_docs):
    space = build_space(build(documents(random_texts(n_docs)), words_per_shard=150), dims=5)
    docnos, terms, rows = dense_weights(space.snapshot)
    assert space.record.n_terms == len(terms)
    U, sigma, Vt = np.linalg.svd(rows, full_matrices=False)
    signs = np.sign(Vt[np.arange(5), np.abs(Vt[:5]).argmax(1)])
    expected = (U * sigma)[:, :5] * signs
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    expected /= np.where(lengths > 1e-12, lengths, 1)
    found = all_vectors(space)
    np.testing.assert_allclose([found[docno] for docno in docnos], expected, atol=2e-5)


def test_a_query_is_projected_by_its_weights_and_idf(build):
    space = build_space(build(documents(random_texts(40))), dims=5)
    _, terms, rows = dense_weights(space.snapshot)
    V = np.linalg.svd(rows)[2][:5].T
    query = {"w1": 2.0, "w3": 0.5, "w9999": 3.0}
    stats = [space.snapshot.term_stats("both", term) for term in terms]
    weights = np.array([query.get(term, 0) * BM25().term_weight(own) for term, own in zip(terms, stats, strict=True)])
    expected = weights @ V * np.sign(V[np.abs(V).argmax(0), np.arange(5)])
    np.testing.assert_allclose(space.query_vector(query), expected / np.linalg.norm(expected), atol=2e-5)


@pytest.fixture(scope="module")
def topical():
    """A matrix too large for the exact decomposition, with 40 dominant directions, and its V."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(3)
    topics = rng.random((40, 500)) * (rng.random((40, 500)) < 0.1)
    noise = (rng.random((700, 500)) < 0.02) * rng.random((700, 500))
    rows = rng.gamma(0.2, size=(700, 40)) @ topics + 0.1 * noise
    return csr_array(rows.astype(np.float32)), np.linalg.svd(rows)[2].T


def test_a_large_matrix_is_decomposed_as_by_numpy(topical):
    A, expected = topical
    V = decompose(BlockMatrix.of(A), 30, 1, no_progress)
    assert V.dtype == np.float32
    np.testing.assert_allclose(np.abs((V * expected[:, :30]).sum(0)), 1, atol=1e-4)
    assert (V[np.abs(V).argmax(0), np.arange(30)] > 0).all()


def test_another_seed_finds_the_same_space(topical):
    first, second = (decompose(BlockMatrix.of(topical[0]), 30, seed, no_progress) for seed in (1, 2))
    np.testing.assert_allclose(first, second, atol=1e-4)


def test_a_large_matrix_of_small_rank_has_no_further_dimensions():
    from scipy.sparse import csr_array, vstack

    few = csr_array(np.random.default_rng(4).random((6, 400)).astype(np.float32))
    V = decompose(BlockMatrix.of(vstack([few] * 80, format="csr")), 20, 1, no_progress)
    np.testing.assert_allclose(V.T @ V, np.diag([1.0] * 6 + [0.0] * 14), atol=1e-5)
    np.testing.assert_allclose(few @ V @ V.T, few.toarray(), atol=1e-4)


def test_the_same_vectors_in_every_run(build, topical):
    texts = documents(random_texts(30))
    first, second = (build_space(build(texts, words_per_shard=words), dims=4) for words in (60, None))
    np.testing.assert_array_equal(*(decompose(BlockMatrix.of(topical[0]), 30, 1, no_progress) for _ in range(2)))
    again = build_space(first.snapshot.folder, dims=4)
    vectors, same, other = all_vectors(first), all_vectors(again), all_vectors(second)
    assert len(vectors) == 30
    for docno, vector in vectors.items():
        np.testing.assert_array_equal(same[docno], vector)
        np.testing.assert_array_equal(other[docno], vector)  # whatever the shards


def test_vectors_have_length_one_in_any_number_of_dimensions(build):
    space = build_space(build(documents(random_texts(30))), dims=6)
    whole = all_vectors(space)
    for dims in (1, 3, 6):
        for docno, vector in all_vectors(space, dims).items():
            assert (vector.shape, vector.dtype) == ((dims,), np.float32)
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
            np.testing.assert_allclose(vector, whole[docno][:dims] / np.linalg.norm(whole[docno][:dims]), atol=1e-6)
        assert np.linalg.norm(space.query_vector({"w1": 1, "w2": 3}, dims)) == pytest.approx(1, abs=1e-6)


def test_vectors_of_documents_in_several_shards_are_read_at_once(small):
    space = build_space(small, dims=3)
    assert len(space.snapshot.shards) > 1
    places = [space.snapshot.locate(docno) for docno in ("d0007", "d0000", "d0003", "d0000")]
    shards, docs = np.array(places).T
    found = all_vectors(space)
    expected = [found[docno] for docno in ("d0007", "d0000", "d0003", "d0000")]
    np.testing.assert_array_equal(space.vectors(shards, docs), expected)
    assert space.vectors(shards[:0], docs[:0]).shape == (0, 3)


def test_surplus_dimensions_are_zero(small):
    space = build_space(small, dims=200)
    found = np.array(list(all_vectors(space).values()))
    assert found.shape == (8, 200)
    assert np.count_nonzero(found.any(0)) == np.linalg.matrix_rank(dense_weights(space.snapshot)[2])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_empty_documents_and_unknown_words_have_the_zero_vector(build):
    texts = ["a b", "a b c", "", "unique words only"]
    space = build_space(build(documents(texts)), dims=2)
    found = all_vectors(space)
    assert not found["d0002"].any() and not found["d0003"].any()
    assert np.linalg.norm(found["d0000"]) == pytest.approx(1)
    for terms in ({}, {"nowhere": 1.0}, {"unique": 1.0}, {"a": 0.0}):
        assert not space.query_vector(terms).any()


def test_an_index_without_common_words_or_documents_has_an_empty_space(build):
    folder = build(documents(["one", "two"]))
    space = build_space(folder, dims=3)
    assert (space.record.n_terms, space.staleness) == (0, 0)
    assert not np.array(list(all_vectors(space).values())).any()
    delete(folder, ["d0000", "d0001"])
    for empty in (SemanticSpace.open(Snapshot(folder)), build_space(folder), update_space(folder)):
        assert (empty.staleness, empty.n_unwritten, empty.is_stale) == (0, 0, False)


def test_a_copy_that_is_folded_in_has_the_vector_of_the_original(small):
    before = all_vectors(build_space(small, dims=3))
    add(small, documents(CARS + FRUIT, "copy"))
    space = SemanticSpace.open(Snapshot(small))
    assert (space.n_unwritten, space.staleness, space.is_stale) == (8, 0.5, True)
    folded = all_vectors(space)
    for docno, vector in before.items():
        np.testing.assert_array_equal(folded[docno], vector)
        np.testing.assert_allclose(folded[docno.replace("d", "copy")], vector, atol=1e-6)
    written = update_space(small)
    assert (written.n_unwritten, written.staleness, written.made) == (0, 0.5, space.made)
    for docno, vector in all_vectors(written).items():
        np.testing.assert_allclose(folded[docno], vector, atol=1e-6)


def test_new_words_are_unknown_until_the_space_is_rebuilt(small):
    build_space(small, dims=3)
    add(small, documents(["lorry road engine", "lorry wheel road"], "new"))
    assert not SemanticSpace.open(Snapshot(small)).query_vector({"lorry": 1}).any()
    space = build_space(small, dims=2)
    assert space.query_vector({"lorry": 1}) @ space.query_vector({"car": 1}) > 0.9


def test_staleness_is_the_share_of_newer_documents(small):
    build_space(small)
    add(small, documents(["car"], "new"))
    space = SemanticSpace.open(Snapshot(small))
    assert space.staleness == pytest.approx(1 / 9) and not space.is_stale
    add(small, [Document("d0000", "", "auto road, which is another text")])  # updated
    delete(small, ["d0001", "d0002", "d0003"])
    space = SemanticSpace.open(Snapshot(small))
    assert space.staleness == pytest.approx(2 / 6) and space.is_stale
    merge(small)
    assert SemanticSpace.open(Snapshot(small)).staleness == pytest.approx(2 / 6)
    assert build_space(small).staleness == 0


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.dictionaries(st.integers(0, 11), TEXTS, min_size=1, max_size=4)),
        st.tuples(st.just("delete"), st.integers(0, 11)),
        st.tuples(st.sampled_from(["merge", "update"]), st.none()),
    ),
    max_size=6,
)


@settings(max_examples=examples(25))
@given(CHANGES)
def test_after_any_changes_vectors_belong_to_the_right_documents(indexed, changes):
    with indexed(documents(CARS + FRUIT), words_per_shard=12) as folder:
        V = build_space(folder, dims=4)
        terms = {word: V._V[V._weights.terms.find(word)] for word in WORDS}
        weights = {word: V._weights.idf[V._weights.terms.find(word)] for word in WORDS}
        for change, what in changes:
            if change == "add":
                add(folder, [Document(f"d{number:04}", "", text) for number, text in what.items()])
            elif change == "delete" and f"d{what:04}" in Snapshot(folder).docnos():
                delete(folder, [f"d{what:04}"])
            elif change == "merge":
                merge(folder)
            elif change == "update":
                assert update_space(folder).n_unwritten == 0
        space = SemanticSpace.open(Snapshot(folder), verify=True)
        for document in space.snapshot.documents():
            text = document.body.split()
            norm = BM25().doc_norm(np.array([len(text)]), np.zeros(0), V.record.mean_length)[0]
            tfs = {word: text.count(word) for word in set(text)}
            expected = sum(weights[word] * tf / (tf + norm) * terms[word] for word, tf in tfs.items())
            np.testing.assert_allclose(vector_of(space, document.docno), expected / np.linalg.norm(expected), atol=1e-5)


def test_an_open_space_outlives_changes_of_its_index(small):
    space = build_space(small, dims=3)
    snapshot = space.snapshot
    before = all_vectors(space)
    delete(small, ["d0000"])
    merge(small)
    build_space(small, dims=3)
    for again in (space, SemanticSpace.open(snapshot)):  # opened again, it has none of the old shards
        found = all_vectors(again)
        assert found.keys() == before.keys()
    for docno, vector in before.items():
        np.testing.assert_array_equal(vector_of(space, docno), vector)


def test_the_message_for_a_missing_space_names_the_command(small):
    with pytest.raises(IndexMissing, match=f"{small}: no semantic space; `searchlab semantic -i {small}` makes one"):
        SemanticSpace.open(Snapshot(small))
    with pytest.raises(IndexMissing, match="no semantic space"):
        update_space(small)
    assert not (small / "semantic").exists()
    with pytest.raises(IndexMissing, match="no index here"):
        build_space(small / "nowhere")
    assert not (small / "nowhere").exists()


def test_a_space_of_another_analyser_is_refused(small):
    build_space(small)
    add(small, documents(CARS), settings=AnalysisSettings(), rebuild=True)
    with pytest.raises(IndexOutdated, match="made with another analyser than the index has; `searchlab semantic"):
        SemanticSpace.open(Snapshot(small))
    assert build_space(small).n_docs == 4


def test_every_missing_or_truncated_file_is_named(small):
    build_space(small, dims=3)
    files = [path for path in (small / "semantic").iterdir() if path.name not in {MANIFEST, "writer.lock"}]
    assert len(files) == 1 + len(Snapshot(small).shards)
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        with pytest.raises(IndexCorrupt, match=f"{path}: {len(content) - 1} bytes, expected {len(content)}; `search"):
            SemanticSpace.open(Snapshot(small))
        path.write_bytes(b"\0" * len(content))
        with pytest.raises(IndexCorrupt, match=f"{path}: not a readable file of columns .*; `searchlab semantic"):
            SemanticSpace.open(Snapshot(small))
        path.unlink()
        with pytest.raises(IndexCorrupt, match=f"{path}: missing; `searchlab semantic"):
            SemanticSpace.open(Snapshot(small))
        path.write_bytes(content)
    assert SemanticSpace.open(Snapshot(small), verify=True).dims == 3


def test_an_altered_byte_is_found_by_its_checksum_and_is_harmless_otherwise(small):
    build_space(small, dims=3)
    add(small, documents(CARS, "new"))
    files = [path for path in (small / "semantic").iterdir() if path.name not in {MANIFEST, "writer.lock"}]
    for path in files:
        content = bytearray(path.read_bytes())
        for place in range(0, len(content), 7):
            content[place] ^= 0xF7
            path.write_bytes(content)
            with pytest.raises(IndexCorrupt):
                SemanticSpace.open(Snapshot(small), verify=True)
            try:
                space = SemanticSpace.open(Snapshot(small))
                space.query_vector({"car": 1, "road": 2})
                assert all(np.isfinite(vector).all() for vector in all_vectors(space).values())
            except StoreError:
                pass
            content[place] ^= 0xF7
        path.write_bytes(content)
    assert SemanticSpace.open(Snapshot(small), verify=True).dims == 3


@pytest.mark.parametrize(
    "garbage", [b"", b"\x00\xff", b"{", b"[]", b"7", b"null", b"{}", b'{"layout": "x"}', b'{"layout": 1}']
)
def test_a_malformed_manifest_is_corrupt_and_can_be_replaced(small, garbage):
    build_space(small, dims=3)
    (small / "semantic" / MANIFEST).write_bytes(garbage)
    with pytest.raises(IndexCorrupt, match=r"manifest.json: damaged; `searchlab semantic"):
        SemanticSpace.open(Snapshot(small))
    assert build_space(small, dims=3).dims == 3


def test_an_altered_manifest_is_corrupt_and_one_of_a_later_version_is_too_new(small):
    build_space(small, dims=3)
    manifest = small / "semantic" / MANIFEST
    content = manifest.read_text()
    manifest.write_text(content.replace('"dims": 3', '"dims": 2'))
    with pytest.raises(IndexCorrupt, match="damaged"):
        SemanticSpace.open(Snapshot(small))
    manifest.write_text(content.replace('"layout": 1', '"layout": 2'))
    with pytest.raises(IndexTooNew, match="layout 2, but this searchlab reads layout 1; update searchlab"):
        SemanticSpace.open(Snapshot(small))


def test_a_space_that_replaces_another_removes_its_files(small):
    build_space(small, dims=3)
    old = {path.name for path in (small / "semantic").iterdir()}
    space = build_space(small, dims=2)
    new = {path.name for path in (small / "semantic").iterdir()}
    assert old & new == {MANIFEST, "writer.lock"}
    assert new == {MANIFEST, "writer.lock", *space.record.files}
    merge(small)
    update_space(small)
    assert len(list((small / "semantic").iterdir())) == 4


@pytest.mark.parametrize("stage", ["weighing", "projecting"])
@pytest.mark.parametrize("first", [True, False])
def test_an_interrupted_build_leaves_everything_as_it_was(small, stage, first):
    if not first:
        build_space(small, dims=3)
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}

    def interrupt(now, done, total):
        if now == stage and done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_space(small, dims=2, progress=interrupt)
    assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before
    assert (small / "semantic").exists() is not first


def test_progress_is_reported_by_stages(small, topical):
    calls = []
    build_space(small, dims=2, progress=lambda *call: calls.append(call))
    assert {stage for stage, _, _ in calls} == {"weighing", "decomposing", "projecting"}
    assert calls[-1] == ("projecting", 8, 8)
    calls.clear()
    decompose(BlockMatrix.of(topical[0]), 30, 1, lambda *call: calls.append(call))
    assert calls[0] == ("decomposing", 32, 320)
    assert calls[-1] == ("decomposing", 320, 320)


def test_indexing_is_not_blocked_but_a_second_builder_is_refused(small):
    def meanwhile(stage, done, total):
        if stage == "projecting" and done == total:
            add(small, documents(["car"], "meanwhile"))
            with pytest.raises(IndexLocked, match="semantic: being written by process"):
                build_space(small)

    space = build_space(small, dims=2, progress=meanwhile)
    assert space.snapshot.n_docs == 8
    with writer_lock(small):
        space = SemanticSpace.open(Snapshot(small))
        assert (space.snapshot.n_docs, space.n_unwritten) == (9, 1)
        assert vector_of(space, "meanwhile0000") @ space.query_vector({"car": 1}) == pytest.approx(1, abs=1e-6)


def test_a_space_replaced_while_it_is_opened_is_opened_again(small, monkeypatch):
    build_space(small, dims=3)
    read = vector_artefact.read_artefact_record  # type: ignore[attr-defined]

    def read_and_replace(home, kind):
        record = read(home, kind)
        monkeypatch.setattr(vector_artefact, "read_artefact_record", read)
        build_space(small, dims=2)
        return record

    snapshot = Snapshot(small)
    monkeypatch.setattr(vector_artefact, "read_artefact_record", read_and_replace)
    assert SemanticSpace.open(snapshot).dims == 2


def test_files_can_be_stored_elsewhere(small, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    space = build_space(small, dims=2, home=elsewhere)
    assert not (small / "semantic").exists()
    assert SemanticSpace.open(Snapshot(small), home=elsewhere).made == space.made
    shutil.rmtree(elsewhere)


@pytest.mark.parametrize("dims", [0, -1, MAX_DIMS + 1])
def test_dimensions_out_of_range_are_refused(small, dims):
    with pytest.raises(SettingError, match=f"dims is {dims}, expected 1 to {MAX_DIMS}"):
        build_space(small, dims=dims)


def test_more_dimensions_than_the_space_has_are_refused(small):
    space = build_space(small, dims=3)
    for ask in (lambda: space.query_vector({"car": 1}, 4), lambda: vector_of(space, "d0000", 4)):
        with pytest.raises(SettingError, match="semantic: dims is 4, expected 1 to 3"):
            ask()


def test_repr_names_the_folder_and_the_dimensions(small):
    space = build_space(small, dims=3, seed=5)
    assert repr(space) == f"<SemanticSpace {small}: 3 dimensions, made {space.made}>"
    assert (space.seed, space.n_docs) == (5, 8)
    assert space.n_bytes == sum((space.home / name).stat().st_size for name in space.record.files)
