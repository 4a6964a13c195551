import json

import pytest

from searchlab.analysis import analyzer
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import IndexCorrupt, IndexMissing, IndexTooNew, StoreError
from searchlab.indexing import snapshot as snapshots
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.layout import LAYOUT_VERSION, MANIFEST
from searchlab.indexing.storage.manifest import Manifest, read_index_manifest
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from tests.indexing.packed_arrays import alter_columns

DOCUMENTS = [Document("a", "A title", "some words"), Document("b", "", "more words")]


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "index")


def files_of(folder):
    return sorted(path for path in folder.glob("shard-*/**/*") if path.is_file())


def test_a_manifest_survives_json(folder):
    manifest = read_index_manifest(folder)
    assert (manifest.n_docs, manifest.generation) == (2, 1)
    assert Manifest.from_json(json.loads(json.dumps(manifest.to_json()))) == manifest


def test_every_truncated_file_is_named(folder):
    paths = [path for path in files_of(folder) if path.stat().st_size]
    assert len(paths) > 5
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        with pytest.raises(IndexCorrupt, match=f"{path}: {len(content) - 1} bytes, expected {len(content)}; rebuild"):
            Snapshot(folder)
        path.write_bytes(content)
    assert Snapshot(folder).n_docs == 2


def test_every_missing_file_is_named(folder):
    paths = files_of(folder)
    assert len(paths) > 5
    for path in paths:
        path.rename(folder / "aside")
        with pytest.raises(IndexCorrupt, match=f"{path}: missing; rebuild it"):
            Snapshot(folder)
        (folder / "aside").rename(path)
    assert Snapshot(folder).n_docs == 2


@pytest.mark.parametrize("garbage", [b"", b"\x00\xff\xfe", b"{", b"[]", b"7", b"null", b"{}", b'{"layout": "x"}'])
def test_a_file_that_is_not_a_manifest_is_corrupt(folder, garbage):
    (folder / MANIFEST).write_bytes(garbage)
    with pytest.raises(IndexCorrupt, match=f"{MANIFEST}: not a manifest; rebuild it"):
        read_index_manifest(folder)


@pytest.mark.parametrize(
    ("written", "altered"),
    [
        ('"sources": []', '"sources": ["x"]'),
        ('"n_docs": 2', '"n_docs": 3'),
        ('"stemmer": "none"', '"stemmer": "nine"'),
        ('"generation": 1', '"generation": 7'),
    ],
)
def test_an_altered_manifest_is_corrupt(folder, written, altered):
    text = (folder / MANIFEST).read_text()
    assert written in text
    (folder / MANIFEST).write_text(text.replace(written, altered, 1))
    with pytest.raises(IndexCorrupt, match=r"damaged \(its checksum does not match\)"):
        read_index_manifest(folder)


def test_any_flipped_bit_of_a_manifest_is_noticed_or_harmless(folder):
    content = (folder / MANIFEST).read_bytes()
    whole = read_index_manifest(folder)
    for position in range(0, len(content), 7):
        flipped = bytearray(content)
        flipped[position] ^= 4
        (folder / MANIFEST).write_bytes(flipped)
        try:
            assert read_index_manifest(folder) == whole  # white space became other white space
        except StoreError as error:
            assert MANIFEST in str(error)


def test_a_layout_of_a_later_version_is_not_read(folder):
    path = folder / MANIFEST
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"layout": LAYOUT_VERSION + 1}))
    with pytest.raises(IndexTooNew, match=f"layout {LAYOUT_VERSION + 1}, but this searchlab reads .* update searchlab"):
        Snapshot(folder)


@pytest.mark.parametrize("name", ["nowhere", "file", "file/below"])
def test_where_no_index_the_error_says_how_to_make_one(tmp_path, name):
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexMissing, match="no index here; `searchlab index SOURCE` makes one"):
        Snapshot(tmp_path / name)


@pytest.mark.parametrize("damage", ["manifest", "shard"])
def test_a_damaged_index_can_be_built_again(build, folder, damage):
    path = folder / MANIFEST if damage == "manifest" else files_of(folder)[0]
    path.write_bytes(b"damaged")
    with pytest.raises(IndexCorrupt):
        Snapshot(folder)
    build([Document("new", "", "words")], folder=folder)
    assert list(Snapshot(folder).docnos()) == ["new"]
    assert len(list(folder.glob("shard-*"))) == 1


def test_an_index_of_a_later_version_is_not_overwritten(build, folder):
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layout": LAYOUT_VERSION + 1}))
    before = {path: path.read_bytes() for path in [path, *files_of(folder)]}
    with pytest.raises(IndexTooNew):
        build(DOCUMENTS, folder=folder)
    assert {path: path.read_bytes() for path in before} == before


def test_an_index_with_other_word_rules_is_refused(folder, monkeypatch):
    monkeypatch.setattr(analyzer, "WORD_RULES_VERSION", analyzer.WORD_RULES_VERSION + 1)  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match=r"--rebuild"):
        Snapshot(folder)


def test_a_column_that_names_a_document_out_of_range_is_corrupt(folder):
    (path,) = folder.glob("shard-*/columns")
    alter_columns(path, lambda arrays: arrays["both.docs"].__setitem__(-1, 0x7F000000))
    with pytest.raises(IndexCorrupt, match="the postings of both are damaged"):
        SearchEngine(folder, compiled=False).search("more some words title")


def test_a_snapshot_answers_as_before_when_the_index_is_rebuilt(build, folder):
    engine = SearchEngine(folder)
    build([Document("new", "", "words")], folder=folder)
    hits = engine.search("words")
    assert sorted(hits.docnos) == ["a", "b"]
    assert sorted(hit.document.body for hit in hits) == ["more words", "some words"]
    assert SearchEngine(folder).search("words").docnos == ["new"]


def test_an_index_that_is_rebuilt_while_it_is_opened_opens(folder, rebuild_during_opening):
    rebuild_during_opening(snapshots, folder)
    assert list(Snapshot(folder).docnos()) == ["new"]


def test_the_settings_of_an_index_analyse_its_queries(build):
    folder = build([Document("a", "", "cells")], settings=AnalysisSettings())
    engine = SearchEngine(folder)
    assert engine.search("the CELL").docnos == ["a"]
    # A word that the index has not seen is stemmed as the documents were.
    assert engine.search("celling").docnos == ["a"]
