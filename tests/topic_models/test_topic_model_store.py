"""Topic models of an index: stored completely, and with the latent topics of the right documents."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexCorrupt, IndexLocked, IndexMissing, IndexOutdated, IndexTooNew, SettingError
from searchlab.indexing import vector_artefact
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.records import Document
from searchlab.topic_models.plsa import fold_in
from searchlab.topic_models.topic_model_store import (
    build_topic_model,
    list_topic_models,
    open_topic_model,
    save_topic_model,
    update_topic_model,
)
from searchlab.topic_models.topic_words import shortest_words
from tests.hypothesis_profiles import examples
from tests.indexing.artefact_indexes import CARS, FRUIT, WORDS, add, build_cars_and_fruit, documents


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def small(build, tmp_path):
    """An index of eight documents in several shards."""
    return build_cars_and_fruit(build, tmp_path / "index")


def topics_of(model, docno):
    shard_index, number = model.snapshot.locate(docno)
    return model.topics_given_document(np.array([shard_index]), np.array([number]))[0]


def all_topics(model):
    return {docno: topics_of(model, docno) for docno in model.snapshot.docnos()}


@pytest.mark.parametrize("method", ["plsa", "wtm"])
def test_documents_and_terms_are_divided_by_their_subjects(small, method):
    model = build_topic_model(small, method=method, n_topics=2)
    assert (model.n_topics, model.method, model.record.n_docs, model.staleness) == (2, method, 8, 0)
    topics = all_topics(model)
    cars, fruit = np.mean([topics["d0000"], topics["d0001"]], 0), np.mean([topics["d0004"], topics["d0005"]], 0)
    assert np.abs(cars - fruit).sum() > 1.8
    assert topics["d0002"] == pytest.approx(cars, abs=0.1) and topics["d0006"] == pytest.approx(fruit, abs=0.1)
    of_terms = model.term_given_topic(WORDS)
    np.testing.assert_allclose(of_terms.sum(0), 1, rtol=1e-5)
    assert {WORDS[number] for number in np.flatnonzero(of_terms[:, cars.argmax()] > 0.05)} == set(
        " ".join(CARS).split()
    )
    assert not model.term_given_topic(["nowhere"]).any()
    assert model.term_given_topic([]).shape == (0, 2)
    assert model.topics_given_words({"car": 1.0, "wheel": 2.0}) == pytest.approx(cars, abs=0.1)
    assert model.topics_given_words({"nowhere": 1.0}) == pytest.approx(model.shares)
    assert model.topics_given_words({}) == pytest.approx(model.shares)


def test_an_opened_model_is_the_one_that_was_built(small):
    model = build_topic_model(small, n_topics=3, seed=5)
    again = open_topic_model(Snapshot(small))
    assert again.record == model.record
    assert again.fingerprint == model.fingerprint
    assert again.fingerprint.startswith("plsa-3-")
    for docno, own in all_topics(model).items():
        np.testing.assert_array_equal(topics_of(again, docno), own)
    assert repr(again) == f"<TopicModel {small / 'topics' / 'plsa'}: 3 latent topics, made {model.record.made}>"


def test_shards_do_not_change_the_model(build):
    texts = documents(CARS + FRUIT)
    first, second = (build_topic_model(build(texts, words_per_shard=words), n_topics=2) for words in (8, None))
    assert len(first.snapshot.shards) > len(second.snapshot.shards)
    np.testing.assert_array_equal(first.term_given_topic(WORDS), second.term_given_topic(WORDS))
    assert first.fingerprint == second.fingerprint
    others = all_topics(second)
    for docno, own in all_topics(first).items():
        np.testing.assert_array_equal(own, others[docno])


def test_another_seed_is_another_fingerprint(small):
    assert build_topic_model(small, seed=1).fingerprint != build_topic_model(small, seed=2).fingerprint


def test_documents_of_several_shards_are_looked_up_at_once(small):
    model = build_topic_model(small, n_topics=2)
    assert len(model.snapshot.shards) > 1
    shards, docs = np.array([model.snapshot.locate(docno) for docno in ("d0007", "d0000", "d0003", "d0000")]).T
    found = all_topics(model)
    expected = [found[docno] for docno in ("d0007", "d0000", "d0003", "d0000")]
    np.testing.assert_array_equal(model.topics_given_document(shards, docs), expected)
    assert model.topics_given_document(shards[:0], docs[:0]).shape == (0, 2)


def test_a_document_keeps_its_topics_when_shards_are_merged(small):
    before = all_topics(build_topic_model(small, n_topics=2))
    merge(small)
    for model in (open_topic_model(Snapshot(small)), update_topic_model(small)):
        for docno, own in before.items():
            np.testing.assert_array_equal(topics_of(model, docno), own)
    assert open_topic_model(Snapshot(small)).n_unwritten == 0


@pytest.mark.parametrize("method", ["plsa", "wtm"])
def test_documents_added_later_are_folded_in(small, method):
    build_topic_model(small, method=method, n_topics=2)
    add(small, documents([*CARS, "", "unknown words"], "new"))
    model = open_topic_model(Snapshot(small), method)
    assert (model.n_unwritten, model.is_stale) == (6, True)
    assert model.staleness == pytest.approx(6 / 14)
    found = all_topics(model)
    for number in range(4):
        assert found[f"new{number:04}"] == pytest.approx(found[f"d{number:04}"], abs=0.05)
    for docno in ("new0004", "new0005"):
        assert found[docno] == pytest.approx(model.shares, abs=1e-6)
    written = update_topic_model(small, name=method)
    assert (written.n_unwritten, written.fingerprint) == (0, model.fingerprint)
    for docno, own in all_topics(written).items():
        np.testing.assert_allclose(own, found[docno], atol=1e-6)


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.dictionaries(st.integers(0, 11), TEXTS, min_size=1, max_size=4)),
        st.tuples(st.just("delete"), st.integers(0, 11)),
        st.tuples(st.sampled_from(["merge", "update"]), st.none()),
    ),
    max_size=5,
)


@settings(max_examples=examples(15))
@given(CHANGES)
def test_after_any_changes_documents_have_the_right_latent_topics(indexed, changes):
    from scipy.sparse import csr_array

    with indexed(documents(CARS + FRUIT), words_per_shard=12) as folder:
        built = build_topic_model(folder, n_topics=2)
        learnt = {document.body: topics_of(built, document.docno) for document in built.snapshot.documents()}
        originals = {document.docno: document.body for document in built.snapshot.documents()}
        for change, what in changes:
            if change == "add":
                add(folder, [Document(f"d{number:04}", "", text) for number, text in what.items()])
            elif change == "delete" and f"d{what:04}" in Snapshot(folder).docnos():
                delete(folder, [f"d{what:04}"])
            elif change == "merge":
                merge(folder)
            elif change == "update":
                assert update_topic_model(folder).n_unwritten == 0
        model = open_topic_model(Snapshot(folder), verify=True)
        for document in model.snapshot.documents():
            if originals.get(document.docno) == document.body:
                expected = learnt[document.body]
            else:
                counts = csr_array([[document.body.split().count(word) for word in WORDS]])
                expected = fold_in(counts, model.term_given_topic(WORDS), model.shares, model.record.temperature)[0]
            np.testing.assert_allclose(topics_of(model, document.docno), expected, atol=1e-5)


def test_top_terms_are_more_likely_in_a_latent_topic_than_in_the_collection(small):
    model = build_topic_model(small, n_topics=2)
    for topic in range(2):
        terms = model.top_terms(topic, 5)
        p = dict(zip(WORDS, model.term_given_topic(WORDS)[:, topic], strict=True))
        counts = " ".join(CARS + FRUIT).split()
        lift = {word: p[word] * np.log(p[word] * len(counts) / counts.count(word)) for word in WORDS if p[word] > 0}
        expected = [word for word in sorted(lift, key=lift.__getitem__, reverse=True) if lift[word] > 1e-6]
        assert [term for term, _ in terms] == expected[:5]
        assert len(model.top_terms(topic, 100)) == len(expected) < len(WORDS)
        assert all(share == pytest.approx(p[term]) for term, share in terms)
    with pytest.raises(SettingError, match="latent topic 3, expected 1 to 2"):
        model.top_terms(2)


def test_the_top_terms_of_a_single_latent_topic_are_the_most_frequent(small):
    model = build_topic_model(small, n_topics=1)
    terms = model.top_terms(0, 3)
    assert [term for term, _ in terms] == ["road", "sweet", "engine"]  # 4, 4 and 3 of 28 words
    assert terms[0][1] == pytest.approx(4 / 28)


def test_a_term_is_shown_as_the_shortest_word_that_has_it(build):
    texts = documents(["studies of airways", "a study, studied: airway", "nothing"])
    snapshot = Snapshot(build(texts, settings=AnalysisSettings(), words_per_shard=2))
    assert shortest_words(snapshot, ["studi", "airwai", "nowhere"]) == {
        "studi": "study",
        "airwai": "airway",
        "nowhere": "nowhere",
    }


@pytest.mark.parametrize("method", ["plsa", "wtm"])
def test_empty_documents_and_indexes_have_topic_models_too(build, method):
    folder = build(documents(["", "a b", "a"]))
    model = build_topic_model(folder, method=method, n_topics=5)
    assert topics_of(model, "d0000") == pytest.approx(model.shares)
    delete(folder, ["d0000", "d0001", "d0002"])
    for empty in (build_topic_model(folder, method=method, n_topics=3), open_topic_model(Snapshot(folder), method)):
        assert (empty.record.n_docs, empty.record.n_terms, empty.staleness, empty.n_unwritten) == (0, 0, 0, 0)
        assert empty.top_terms(0) == []
        assert empty.topics_given_words({"a": 1}) == pytest.approx([1 / 3] * 3)


def test_the_message_for_a_missing_model_says_how_to_make_one(small):
    expected = f"{small}: no topic model 'wtm'; `searchlab topic-model -i {small} --method wtm` makes one"
    with pytest.raises(IndexMissing, match=expected):
        open_topic_model(Snapshot(small), "wtm")
    with pytest.raises(IndexMissing, match="no topic model 'plsa'"):
        update_topic_model(small)
    assert not (small / "topics").exists()
    with pytest.raises(IndexMissing, match="no index here"):
        build_topic_model(small / "nowhere")
    assert list_topic_models(small) == ()


def test_a_model_of_another_analyser_is_refused(small):
    build_topic_model(small)
    add(small, documents(CARS), settings=AnalysisSettings(), rebuild=True)
    with pytest.raises(IndexOutdated, match="made with another analyser than the index has; `searchlab topic-model -i"):
        open_topic_model(Snapshot(small))
    assert build_topic_model(small, n_topics=2).record.n_docs == 4


def test_a_model_of_another_index_is_refused(small, build, tmp_path):
    build_topic_model(small, n_topics=2)
    other = build(documents(["car road"], "other"), folder=tmp_path / "other")
    shutil.copytree(small / "topics", other / "topics")
    with pytest.raises(IndexOutdated, match="made from other documents than the index has; `searchlab topic-model -i"):
        open_topic_model(Snapshot(other))


def test_every_missing_truncated_or_altered_file_is_named(small):
    build_topic_model(small, n_topics=2)
    home = small / "topics" / "plsa"
    files = [path for path in home.iterdir() if path.name not in {MANIFEST, "writer.lock"}]
    assert len(files) == 1 + len(Snapshot(small).shards)
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        with pytest.raises(
            IndexCorrupt, match=rf"{path.name}: \d+ bytes, expected \d+; `searchlab topic-model .* --rebuild`"
        ):
            open_topic_model(Snapshot(small))
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(IndexCorrupt, match=f"{path.name}: its checksum does not match"):
            open_topic_model(Snapshot(small), verify=True)
        path.unlink()
        with pytest.raises(IndexCorrupt, match=f"{path.name}: missing"):
            open_topic_model(Snapshot(small))
        path.write_bytes(content)
    assert open_topic_model(Snapshot(small), verify=True).n_topics == 2


def test_damaged_latent_topics_of_documents_are_detected_when_they_are_read(small):
    model = build_topic_model(small, n_topics=2)
    name = model.record.vectors[model.snapshot.shards[0].record.name]
    path = model.home / name
    vectors = ArrayFile(path)["vectors"].whole.copy()
    vectors[-1] = [7.0, np.nan]
    write_arrays(path, {"vectors": vectors})
    opened = open_topic_model(Snapshot(small))
    last = np.array([opened.snapshot.shards[0].columns.n_docs - 1])
    with pytest.raises(IndexCorrupt, match="topics of documents are damaged"):
        opened.topics_given_document(np.zeros(1, np.int64), last)


def test_an_altered_manifest_is_corrupt_and_one_of_a_later_version_too_new(small):
    build_topic_model(small, n_topics=3)
    manifest = small / "topics" / "plsa" / MANIFEST
    content = manifest.read_text()
    manifest.write_text(content.replace('"n_topics": 3', '"n_topics": 2'))
    with pytest.raises(IndexCorrupt, match="damaged"):
        open_topic_model(Snapshot(small))
    manifest.write_text(content.replace('"layout": 1', '"layout": 2'))
    with pytest.raises(IndexTooNew, match="layout 2, but this searchlab reads layout 1; update searchlab"):
        open_topic_model(Snapshot(small))


@pytest.mark.parametrize("stage", ["counting", "training", "writing"])
@pytest.mark.parametrize("first", [True, False])
def test_an_interrupted_build_leaves_everything_as_it_was(small, stage, first):
    if not first:
        build_topic_model(small, n_topics=3)
    before = {path: path.read_bytes() for path in small.rglob("*") if path.is_file()}

    def interrupt(now, done, total):
        if now == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_topic_model(small, n_topics=2, progress=interrupt)
    assert {path: path.read_bytes() for path in small.rglob("*") if path.is_file()} == before
    assert (small / "topics" / "plsa").exists() is not first


def test_a_new_model_leaves_no_files_of_the_one_it_replaces(small):
    build_topic_model(small, n_topics=3)
    model = build_topic_model(small, n_topics=2)
    assert {path.name for path in model.home.iterdir()} == {MANIFEST, "writer.lock", *model.record.files}


def test_a_build_does_not_block_indexing_but_refuses_a_second_build(small):
    def meanwhile(stage, done, total):
        if stage == "writing" and done == total:
            add(small, documents(["car"], "meanwhile"))
            with pytest.raises(IndexLocked, match="topics/plsa: being written by process"):
                build_topic_model(small)

    model = build_topic_model(small, n_topics=2, progress=meanwhile)
    assert model.snapshot.n_docs == 8
    assert open_topic_model(Snapshot(small)).n_unwritten == 1


def test_a_model_replaced_while_it_is_opened_is_read_again(small, monkeypatch):
    build_topic_model(small, n_topics=3)
    read = vector_artefact.read_artefact_record  # type: ignore[attr-defined]

    def read_and_replace(home, kind):
        record = read(home, kind)
        monkeypatch.setattr(vector_artefact, "read_artefact_record", read)
        build_topic_model(small, n_topics=2)
        return record

    snapshot = Snapshot(small)
    monkeypatch.setattr(vector_artefact, "read_artefact_record", read_and_replace)
    assert open_topic_model(snapshot).n_topics == 2


def test_an_index_can_have_several_models_by_name(small):
    build_topic_model(small, n_topics=2)
    build_topic_model(small, n_topics=3, name="fine")
    build_topic_model(small, method="wtm", n_topics=4)
    assert list_topic_models(small) == ("fine", "plsa", "wtm")
    assert [open_topic_model(Snapshot(small), name).n_topics for name in list_topic_models(small)] == [3, 2, 4]
    for name in ("../evil", "", "A", "a b"):
        with pytest.raises(SettingError, match=r"topic model .*, expected a name of lower-case letters"):
            open_topic_model(Snapshot(small), name)


def test_trained_latent_topics_survive_merges_and_do_not_change_the_original_model(small):
    model = build_topic_model(small, n_topics=2)
    before = all_topics(model)
    address = model.snapshot.locate("d0001")
    saved = save_topic_model(model, "mine", {address: np.array([0.25, 0.75])}, 0.6, 0.2)
    assert saved.trained_weights == (0.6, 0.2) and model.trained_weights is None
    assert saved.fingerprint != model.fingerprint
    merge(small)
    for name, expected in (("mine", [0.25, 0.75]), ("plsa", before["d0001"])):
        opened = open_topic_model(Snapshot(small), name)
        assert topics_of(opened, "d0001") == pytest.approx(expected)
        assert topics_of(opened, "d0002") == pytest.approx(before["d0002"])
    with pytest.raises(SettingError, match="would replace the one it was trained from"):
        save_topic_model(model, "plsa", {}, 0.5, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lda"}, "unknown method 'lda'; there is: plsa, wtm"),
        ({"n_topics": 0}, "n_topics is 0, expected 1 to 1000"),
        ({"n_topics": 1001}, "n_topics is 1001, expected 1 to 1000"),
    ],
)
def test_settings_out_of_range_are_refused(small, options, message):
    with pytest.raises(SettingError, match=message):
        build_topic_model(small, **options)
    assert not (small / "topics").exists()
