"""After any adds, updates, deletes and merges an index equals a fresh index of the live documents."""

import os
import re
import shutil

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus import ReadingNotes
from searchlab.errors import IndexCorrupt, IndexMissing, RecordError, SettingError
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.building.indexer import build_index, index
from searchlab.indexing.merging import merge as merging
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import NGRAMS, STREAMS
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.absolute_discount import AbsoluteDiscount
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.tfidf import TFIDF
from searchlab.scorers.two_stage import TwoStage
from tests.hypothesis_profiles import examples

PLAIN = AnalysisSettings("none", "none", frozenset(), ngrams=2)
WORDS = ["a", "b", "c", "d", "e", "f", "g", "abc", "信息检索"]
TERMS = [*WORDS, "ab", "bc", "信息", "息检", "检索"]
SCORERS = [BM25(), BM25F(), TFIDF(), Dirichlet(mu=5), JelinekMercer(), AbsoluteDiscount(), TwoStage(mu=5)]

docnos = st.sampled_from([f"d{number}" for number in range(12)])
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
documents = st.builds(Document, docnos, texts, texts, st.fixed_dictionaries({}, optional={"year": st.integers(0, 3)}))
batches = st.lists(documents, min_size=1, max_size=8, unique_by=lambda document: document.docno)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # no test cuts the power


def put(folder, batch, **options):
    return build_index(lambda: iter(batch), folder, PLAIN, jobs=1, **options)


def assert_as_fresh(folder, live, home):
    """Every statistic, every score and every document is that of a fresh index of the live documents."""
    fresh_folder = home / "fresh"
    shutil.rmtree(fresh_folder, ignore_errors=True)
    put(fresh_folder, live.values())
    with SearchEngine(folder) as engine, SearchEngine(fresh_folder) as fresh:
        old, new = engine.snapshot, fresh.snapshot
        assert sorted(old.docnos()) == sorted(live)
        assert {document.docno: document for document in old.documents()} == live
        assert (old.n_docs, old.n_tokens, old.n_terms) == (new.n_docs, new.n_tokens, new.n_terms)
        assert old.count_tokens("year") == new.count_tokens("year")
        for term in TERMS:
            for stream in (*STREAMS, NGRAMS):
                assert old.term_stats(stream, term) == new.term_stats(stream, term)
                assert old.count_term(stream, term) == new.count_term(stream, term)
        for scorer in SCORERS:
            for query in ("a", "b c", "a b c d e f g"):
                for k in (1, 3, None):
                    found, expected = (each.search(query, k=k, scorer=scorer) for each in (engine, fresh))
                    assert found.docnos == expected.docnos
                    assert found.scores.tolist() == expected.scores.tolist()
        for query in ("abc a", "检索 信息"):
            for options in ({"stream": NGRAMS}, {"scorer": Mixture(0.2, 0.3, ngram_document=0.1, ngram_corpus=0.4)}):
                found, expected = (each.search(query, k=None, **options) for each in (engine, fresh))
                assert found.docnos == expected.docnos
                assert found.scores.tolist() == expected.scores.tolist()
        plain = SearchEngine(folder, compiled=False)
        assert plain.search("a b c", k=None).docnos == fresh.search("a b c", k=None).docnos
        plain.close()


class ChangingIndex(RuleBasedStateMachine):
    """A small index that is changed in every way."""

    @initialize()
    def begin(self):
        self.home = HOME[0] / "machine"
        shutil.rmtree(self.home, ignore_errors=True)
        self.folder = self.home / "index"
        self.live = {"d0": Document("d0", "a", "b")}
        put(self.folder, self.live.values())

    @rule(batch=batches)
    def add_or_update(self, batch):
        before = dict(self.live)
        summary = put(self.folder, batch)
        self.live |= {document.docno: document for document in batch}
        assert summary.n_added == len(self.live) - len(before)
        assert summary.n_unchanged == sum(before.get(document.docno) == document for document in batch)
        assert summary.n_updated == len(batch) - summary.n_added - summary.n_unchanged

    @rule(batch=batches)
    def prune(self, batch):
        removed = {*self.live} - {document.docno for document in batch}
        assert put(self.folder, batch, prune=True).n_removed == len(removed)
        self.live = {document.docno: document for document in batch}

    @rule(docno=docnos)
    def remove(self, docno):
        if docno not in self.live:
            with pytest.raises(SettingError, match=f"holds no document '{docno}'"):
                delete(self.folder, [docno])
        elif len(self.live) > 1:
            assert delete(self.folder, [docno]).n_removed == 1
            del self.live[docno]

    @rule()
    def merge_all(self):
        assert merge(self.folder).n_shards == 1

    @invariant()
    def is_as_fresh(self):
        if self.live:
            assert_as_fresh(self.folder, self.live, self.home)
            assert sum(shard.n_live for shard in read_index_manifest(self.folder).shards) == len(self.live)
            assert len(read_index_manifest(self.folder).shards) < 8

    def teardown(self):
        shutil.rmtree(self.home, ignore_errors=True)


HOME = []


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "SHARDS_PER_TIER", 3)
    HOME[:] = [tmp_path]
    return ChangingIndex


def test_any_sequence_of_changes_is_as_a_fresh_index(machine):
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples(25), stateful_step_count=12, deadline=None)
    )


ONE, TWO, THREE = (Document(f"d{number}", "", "a b") for number in (1, 2, 3))


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "index", [ONE, TWO])
    return tmp_path / "index"


def test_what_has_not_changed_is_not_written(folder):
    before = (folder / MANIFEST).read_bytes()
    summary = put(folder, [TWO, ONE])
    assert (summary.n_unchanged, summary.n_added, summary.n_updated, summary.n_docs) == (2, 0, 0, 2)
    assert (folder / MANIFEST).read_bytes() == before


def test_a_changed_field_is_a_changed_document(folder):
    changed = Document("d1", "", "a b", {"year": 1988})
    assert put(folder, [changed]).n_updated == 1
    assert Snapshot(folder).document("d1") == changed


def test_a_document_comes_back_as_it_was(folder):
    delete(folder, ["d1"])
    with pytest.raises(SettingError, match="holds no document 'd1'"):
        Snapshot(folder).document("d1")
    assert put(folder, [ONE]).n_added == 1
    assert Snapshot(folder).document("d1") == ONE


def test_deleting_is_all_or_nothing(folder):
    before = (folder / MANIFEST).read_bytes()
    with pytest.raises(SettingError, match="holds no document 'd9'"):
        delete(folder, ["d1", "d9"])
    assert (folder / MANIFEST).read_bytes() == before


def test_deleting_a_document_twice_at_once_deletes_it_once(folder):
    assert delete(folder, ["d1", "d1"]).n_removed == 1


def test_an_index_without_live_documents_finds_nothing_and_can_grow_again(folder):
    assert delete(folder, ["d1", "d2"]).n_docs == 0
    assert read_index_manifest(folder).shards == ()
    with SearchEngine(folder) as engine:
        assert len(engine.search("a b", k=None)) == 0
        assert engine.snapshot.n_terms == 0
    assert merge(folder).n_docs == 0
    assert put(folder, [THREE]).n_docs == 1
    with SearchEngine(folder) as engine:
        assert engine.search("a").docnos == ["d3"]


def test_pruning_keeps_what_came_and_what_came_changed(folder):
    changed = Document("d2", "", "c")
    summary = put(folder, [changed, THREE], prune=True)
    assert (summary.n_removed, summary.n_updated, summary.n_added) == (1, 1, 1)
    assert {document.docno: document for document in Snapshot(folder).documents()} == {"d2": changed, "d3": THREE}


def test_a_failure_while_pruning_removes_nothing(folder):
    def read():
        yield ONE
        raise RecordError("x:2", "malformed")

    with pytest.raises(RecordError):
        build_index(read, folder, PLAIN, jobs=1, prune=True)
    assert sorted(Snapshot(folder).docnos()) == ["d1", "d2"]


def test_pruning_removes_nothing_while_a_record_is_bad(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"docno": "a", "body": "heat"}\n{"docno": "b", "body": "heat"}\n')
    index(tmp_path / "docs.jsonl", tmp_path / "i")
    (tmp_path / "docs.jsonl").write_text('{"docno": "a", "body": "heat"}\n{"docno": \n')
    assert index(tmp_path / "docs.jsonl", tmp_path / "i").n_docs == 2
    [warning] = index(tmp_path / "docs.jsonl", tmp_path / "i", prune=True).warnings
    assert re.match(r"nothing was removed, .* first .*docs\.jsonl:2: expected", warning)
    assert sorted(Snapshot(tmp_path / "i").docnos()) == ["a", "b"]


def test_an_index_cannot_change_how_it_analyses(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"docno": "a"}\n')
    index(tmp_path / "docs.jsonl", tmp_path / "i", stemmer="snowball", stop_list="none")
    assert index(tmp_path / "docs.jsonl", tmp_path / "i").n_unchanged == 1
    assert index(tmp_path / "docs.jsonl", tmp_path / "i", stemmer="snowball").n_unchanged == 1
    for other in ({"stemmer": "porter"}, {"stop_list": "default"}, {"stemmer": "porter", "stop_list": "none"}):
        with pytest.raises(SettingError, match=r"built with stemmer snowball, .*--rebuild"):
            index(tmp_path / "docs.jsonl", tmp_path / "i", **other)
    with pytest.raises(
        SettingError, match=r"built with stemmer .*, found .* and n-grams of 2 characters; rebuild=True"
    ):
        index(tmp_path / "docs.jsonl", tmp_path / "i", ngrams=2)
    index(tmp_path / "docs.jsonl", tmp_path / "i", rebuild=True)
    assert read_index_manifest(tmp_path / "i").settings == AnalysisSettings()


def test_an_index_keeps_its_ngrams(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"docno": "a", "body": "cells"}\n')
    index(tmp_path / "docs.jsonl", tmp_path / "i", ngrams=3)
    assert index(tmp_path / "docs.jsonl", tmp_path / "i").n_unchanged == 1
    assert read_index_manifest(tmp_path / "i").settings == AnalysisSettings(ngrams=3)
    with pytest.raises(SettingError, match="n-grams of 3 characters, found stemmer porter, stop list default;"):
        index(tmp_path / "docs.jsonl", tmp_path / "i", ngrams=0)
    for wrong in (-1, 9, True, "2"):
        with pytest.raises(SettingError, match="expected a number of characters from 0 to 8"):
            index(tmp_path / "docs.jsonl", tmp_path / "new", ngrams=wrong)


def test_a_damaged_index_is_not_updated_but_can_be_rebuilt(folder):
    (folder / MANIFEST).write_text("{")
    with pytest.raises(IndexCorrupt, match="--rebuild"):
        put(folder, [THREE])
    assert put(folder, [THREE], rebuild=True).n_docs == 1


@pytest.mark.parametrize("change", [lambda folder: delete(folder, ["x"]), merge])
def test_a_mistyped_name_makes_no_index(tmp_path, change):
    with pytest.raises(IndexMissing):
        change(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_sources_are_recorded_as_absolute_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"docno": "{name}"}}\n')
        index(f"{name}.jsonl", "i")
    index("one.jsonl", "i")
    sources = read_index_manifest(tmp_path / "indexes" / "i").sources
    assert sources == (str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl"))


def test_many_small_updates_leave_few_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "SMALLEST_TIER_WORDS", 1)
    max_shards = 0
    for number in range(100):
        summary = put(tmp_path / "i", [Document(f"d{number:03}", "", "a b")])
        max_shards = max(max_shards, summary.n_shards)
    assert max_shards <= 7 * 3
    assert sorted(Snapshot(tmp_path / "i").docnos()) == [f"d{number:03}" for number in range(100)]


def test_an_interrupted_merge_leaves_the_update(folder, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(merging, "merge_columns", interrupted)
    monkeypatch.setattr(merging, "SHARDS_PER_TIER", 2)
    with pytest.raises(KeyboardInterrupt):
        put(folder, [THREE])
    assert sorted(Snapshot(folder).docnos()) == ["d1", "d2", "d3"]
    monkeypatch.undo()
    assert put(folder, [THREE]).n_docs == 3


def test_pruning_keeps_documents_that_could_not_be_read_also_under_other_docnos(folder):
    put(folder, [ONE, Document("d1~x.pdf", "", "c"), Document("d10", "", "c"), THREE])
    notes = ReadingNotes()

    def read():
        notes.add_unreadable("x.pdf", "damaged", "d1")
        yield THREE

    build_index(read, folder, PLAIN, jobs=1, prune=True, notes=notes)
    assert sorted(Snapshot(folder).docnos()) == ["d1", "d1~x.pdf", "d3"]
