import os
from pathlib import Path

import pytest

import searchlab
from searchlab.errors import IndexMissing, SettingError
from searchlab.indexing import index_names
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.building.indexer import index
from searchlab.indexing.index_names import (
    default_folder,
    existing_index,
    index_folder,
    latest_index,
    list_indexes,
    locate_index,
)
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.records import Document

DOCUMENTS = [Document("a", "A title", "some words"), Document("b", "", "more words")]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return index_names.INDEXES_FOLDER


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("medical", "indexes/medical"),
        ("my index.v2", "indexes/my index.v2"),
        ("indexes/medical", "indexes/medical"),
        ("./medical", "medical"),
        ("medical/", "medical"),
        ("/data/medical", "/data/medical"),
        ("..", ".."),
        (".", "."),
        (Path("medical"), "medical"),
    ],
)
def test_a_name_without_a_slash_is_in_indexes_and_anything_else_is_a_folder(home, name, folder):
    assert index_folder(name) == locate_index(name) == Path(folder)


def test_an_empty_name_is_refused(home):
    with pytest.raises(SettingError, match="the name of the index is empty"):
        index_folder("")


def test_a_name_means_the_same_folder_for_writing_and_for_reading(home, tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"docno": "a", "body": "words"}\n{"docno": "b"}\n')
    assert index("docs.jsonl", "named", jobs=1).folder == home / "named"
    assert delete("named", ["b"]).folder == merge("named").folder == home / "named"
    with searchlab.open("named") as engine:
        assert engine.search("words").docnos == ["a"]
    assert not (tmp_path / "named").exists()


def test_the_index_in_indexes_is_read_even_if_there_is_one_of_its_name_here(build, home, tmp_path):
    build(DOCUMENTS, folder=home / "twice")
    build(DOCUMENTS, folder=tmp_path / "twice")
    assert locate_index("twice") == home / "twice"
    assert locate_index("./twice") == Path("twice")


@pytest.mark.parametrize("read", [locate_index, existing_index, searchlab.open, merge])
def test_an_index_that_is_only_in_the_working_folder_is_named_in_the_error(build, home, tmp_path, read):
    build(DOCUMENTS, folder=tmp_path / "here")
    with pytest.raises(
        IndexMissing, match=r"^indexes/here: no index here, but .* in the working folder; write \./here$"
    ):
        read("here")
    assert existing_index("./here") == Path("here")


def test_an_index_to_change_must_exist(home):
    with pytest.raises(IndexMissing, match="indexes/unknown: no index here"):
        existing_index("unknown")
    assert not home.exists()


@pytest.mark.parametrize(
    ("source", "name"),
    [("corpora/medical/", "medical"), ("a/docs.jsonl.gz", "docs"), ("my corpus (2)", "my-corpus-2"), (".", "here")],
)
def test_an_index_is_named_after_its_source(home, tmp_path, monkeypatch, source, name):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert default_folder([source, "other"]) == home / name


@pytest.mark.parametrize("source", ["...", "/", ".hidden"])
def test_a_source_that_makes_no_name_asks_for_one(home, source):
    with pytest.raises(SettingError, match=r"makes no name for an index; choose one with -i"):
        default_folder([source])


def test_the_index_written_last_is_chosen(build, home):
    with pytest.raises(IndexMissing, match="indexes: no index here"):
        latest_index()
    for age, name in enumerate(["new", "old", "oldest"]):
        build(DOCUMENTS, folder=home / name)
        os.utime(home / name / MANIFEST, (10_000 - age, 10_000 - age))
    assert latest_index() == (home / "new", 3)


def test_indexes_are_listed_by_name_with_their_sizes(build, home):
    assert list_indexes() == []
    build(DOCUMENTS, folder=home / "small")
    build([*DOCUMENTS, Document("c", "", "words")], folder=home / "large", words_per_shard=3)
    (home / "damaged").mkdir()
    (home / "damaged" / MANIFEST).write_text("{")
    (home / "empty").mkdir()
    damaged, large, small = list_indexes()
    assert (damaged.name, damaged.n_docs, damaged.written) == ("damaged", 0, "")
    assert damaged.problem.startswith(f"indexes/damaged/{MANIFEST}: not a manifest")
    assert (large.name, large.folder, large.n_docs, large.n_shards) == ("large", home / "large", 3, 2)
    manifest = Snapshot(home / "small").manifest
    assert (small.n_bytes, small.written, small.problem) == (manifest.n_bytes, manifest.written, "")


def test_what_is_no_path_is_refused():
    for call in (lambda: searchlab.open(None), lambda: index(DOCUMENTS, 5), lambda: delete(b"a", ["a"])):  # type: ignore[arg-type]
        with pytest.raises(SettingError, match=r"^the index is (NoneType|int|bytes), expected a path$"):
            call()
