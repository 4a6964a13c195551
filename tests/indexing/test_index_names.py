import os

import pytest

from searchlab.errors import IndexMissing, SettingError
from searchlab.indexing import index_names
from searchlab.indexing.index_names import choose, default_folder, resolve
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.records import Document

DOCUMENTS = [Document("a", "A title", "some words"), Document("b", "", "more words")]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return index_names.HOME


def test_an_index_is_meant_by_its_path_or_by_its_name(build, home):
    build(DOCUMENTS, folder=home / "named")
    assert resolve("named") == home / "named"
    assert resolve("indexes/named") == home / "named"
    assert resolve("unknown").name == "unknown"


def test_an_index_here_is_meant_before_one_of_its_name_in_indexes(build, home, tmp_path):
    build(DOCUMENTS, folder=home / "twice")
    build(DOCUMENTS, folder=tmp_path / "twice")
    assert resolve("twice") == type(home)("twice")


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
        choose()
    for age, name in enumerate(["new", "old", "oldest"]):
        build(DOCUMENTS, folder=home / name)
        os.utime(home / name / MANIFEST, (10_000 - age, 10_000 - age))
    assert choose() == (home / "new", 3)
