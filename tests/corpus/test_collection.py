import pytest

from searchlab.corpus import Collection, collection, find_collection, read_documents, read_topics
from searchlab.errors import SourceError
from searchlab.records import Document, Topic


def test_a_folder_of_beir_is_understood(write, tmp_path):
    documents = write("corpus.jsonl.gz", '{"_id": "d1", "title": "T", "text": "x", "metadata": {"url": "u"}}\n')
    topics = write("queries.jsonl", '{"_id": "q1", "text": "wing", "metadata": {}}\n')
    qrels = [write(f"qrels/{split}.tsv", "query-id\tcorpus-id\tscore\n") for split in ("test", "dev", "train")]
    write("qrels/readme.txt", "")
    found = find_collection(tmp_path)
    assert found == Collection(tmp_path, documents, (topics,), tuple(qrels))
    assert list(read_documents(found.folder)) == [Document("d1", "T", "x", {"metadata": {"url": "u"}})]
    assert read_topics(found.topics[0]) == [Topic("q1", "wing", {"metadata": "{}"})]


def test_the_main_files_stand_first_and_the_others_in_order(write, tmp_path):
    for name in ["docs.all", "topics-b.tsv", "topics.tsv", "topics-a.tsv", "queries.txt", ".topics", "read.me"]:
        write(name, "")
    for name in ["qrels.txt", "qrels-binary.txt", "qrels.deep/x.txt"]:
        write(name, "")
    found = find_collection(str(tmp_path))
    assert [path.name for path in found.topics] == ["queries.txt", "topics.tsv", "topics-a.tsv", "topics-b.tsv"]
    assert [path.name for path in found.qrels] == ["qrels.txt", "qrels-binary.txt"]


def test_documents_alone_are_a_collection_too(write, tmp_path):
    assert find_collection(tmp_path) is None
    path = write("documents.jsonl", '{"id": 1}')
    assert find_collection(tmp_path) == Collection(tmp_path, path)
    write("corpus.txt", "x")
    assert find_collection(tmp_path) is None


def test_what_is_no_folder_is_no_collection(write, tmp_path):
    assert find_collection(write("docs.jsonl", "")) is None
    assert find_collection(tmp_path / "none") is None


def test_an_error_of_the_system_is_reported_in_its_words(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(collection, "visible_entries", refuse)
    with pytest.raises(SourceError, match=f"^{tmp_path}: Permission denied$"):
        find_collection(tmp_path)
