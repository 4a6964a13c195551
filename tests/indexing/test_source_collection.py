import json
import shutil

import pytest

from searchlab.errors import IndexMissing
from searchlab.indexing.building.indexer import index
from searchlab.indexing.source_collection import source_collection


@pytest.fixture
def sources(tmp_path):
    """Four sources: a file, and collections without topics, without judgments, and with both."""
    for name, files in {"bare": [], "topics": ["topics.tsv"], "judged": ["topics.tsv", "qrels.txt"]}.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_text("1\ta\n")
        (tmp_path / name / "docs.jsonl").write_text(json.dumps({"docno": name}) + "\n")
    (tmp_path / "file.jsonl").write_text('{"docno": "file"}\n')
    return tmp_path


def build_from(folder, *names):
    index([folder / name for name in names], folder / "index", jobs=1)
    return folder / "index"


def test_the_first_source_with_topics_is_the_collection(sources):
    folder = build_from(sources, "file.jsonl", "bare", "topics", "judged")
    assert source_collection(folder).folder == sources / "topics"


def test_with_judgments_asked_for_it_is_the_first_source_that_has_both(sources):
    folder = build_from(sources, "file.jsonl", "bare", "topics", "judged")
    collection = source_collection(folder, with_qrels=True)
    assert (collection.folder, len(collection.topics), len(collection.qrels)) == (sources / "judged", 1, 1)


def test_an_index_of_files_and_bare_collections_has_none(sources):
    folder = build_from(sources, "file.jsonl", "bare")
    assert source_collection(folder) is None


def test_a_collection_that_was_removed_is_not_found(sources):
    folder = build_from(sources, "judged")
    shutil.rmtree(sources / "judged")
    assert source_collection(folder) is None


def test_without_an_index_there_is_an_error(tmp_path):
    with pytest.raises(IndexMissing):
        source_collection(tmp_path / "nowhere")
