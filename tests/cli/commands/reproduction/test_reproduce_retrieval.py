import json
import shutil

import pytest

from searchlab.reproduction import retrieval


@pytest.fixture
def collection(tmp_path, run_cli):
    """A working folder with a small collection in `tiny`."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    docs, topics, qrels = [], [], []
    for number in range(5):
        topics.append(f"{number}\tword{number} common\n")
        qrels.append(f"{number} 0 good{number} 1\n")
        docs.append({"docno": f"good{number}", "title": f"word{number}", "body": "common text about nothing"})
        docs.append({"docno": f"bad{number}", "title": "other", "body": f"word{number} word{number} text"})
    (folder / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in docs))
    (folder / "topics.tsv").write_text("".join(topics))
    (folder / "qrels.txt").write_text("".join(qrels))
    return folder


def test_retrieval_tries_a_collection_and_keeps_its_index_with_the_report(collection, tmp_path, run_cli):
    options = ("--features", "table1", "--rankers", "rsvm", "--folds", "2", "-o", "out", "--json", "x.json")
    code, out, err = run_cli("reproduce", "retrieval", "tiny", *options)
    assert code == 0, err
    first, second, *_ = out.splitlines()
    assert first.split() == ["tiny", *retrieval.MEASURES]
    assert second.startswith("BM25 ")
    assert "rsvm, table1" in out
    assert "warning: left out: mixture, trained (MCE): 5 topics to train with, expected at least 10" in err
    assert (tmp_path / "out" / "indexes" / "tiny" / "manifest.json").exists()
    assert "rsvm, table1" in (tmp_path / "out" / "tiny.csv").read_text()
    assert not (tmp_path / "indexes").exists()
    record = json.loads((tmp_path / "x.json").read_text())
    assert record["recipe"] == "paper"
    assert "rsvm, table1" in record["collections"]["tiny"]["systems"]


def test_cross_trains_on_each_collection_and_tests_on_all(collection, tmp_path, run_cli):
    shutil.copytree(collection, tmp_path / "other")
    options = ("--cross", "--rankers", "rsvm", "--recipe", "tuned", "--folds", "2", "-o", "out", "--json", "x.json")
    code, out, err = run_cli("reproduce", "retrieval", "tiny", "other", *options)
    assert code == 0, err
    header, first, *_ = out.splitlines()
    assert header.split() == ["trained", "on", "AP", "tiny", "other"]
    assert first.split()[:2] == ["–", "BM25"]
    assert "rsvm, tuned" in out
    assert "Trained on another collection" in out
    assert "warning: left out: mixture, EM, trained on tiny: 2 topics to train with, expected at least 10" in err
    assert {path.name for path in (tmp_path / "out" / "indexes").iterdir()} == {"tiny", "other"}
    assert "rsvm, tuned" in (tmp_path / "out" / "cross.csv").read_text()
    record = json.loads((tmp_path / "x.json").read_text())
    assert record["features"] == "nallapati"
    found = {(cell["system"], cell["trained_on"], cell["tested_on"]) for cell in record["cells"]}
    assert ("rsvm, tuned", "tiny", "other") in found


def test_retrieval_refuses_what_is_no_collection(collection, tmp_path, run_cli, monkeypatch):
    monkeypatch.setattr(retrieval, "run_retrieval", lambda *arguments, **options: pytest.fail("tried"))
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "tiny").symlink_to(collection)
    for arguments, message in [
        (("nowhere",), "nowhere: expected a folder with one file of documents"),
        (("tiny", "same/tiny"), "two collections are called tiny"),
        (("tiny", "--features", "tabel1"), "unknown feature set 'tabel1' (did you mean table1?)"),
        (("tiny", "--rankers", "rvsm"), "unknown ranker 'rvsm' (did you mean rsvm?)"),
        (("tiny", "--folds", "1"), "folds is 1, expected a whole number from 2"),
        (("tiny", "--recipe", "own"), "unknown recipe 'own'"),
        (("tiny", "--cross"), "1 collection with --cross, expected at least two to train and to test on"),
        (("tiny", "--cross", "--features", "table1,letor45"), "expected one feature set with --cross"),
    ]:
        code, _, err = run_cli("reproduce", "retrieval", *arguments)
        assert code in (1, 2)
        assert message in err
        assert len(err.splitlines()) == 1
    (collection / "qrels.txt").unlink()
    code, _, err = run_cli("reproduce", "retrieval", "tiny")
    assert (code, err) == (1, "searchlab: tiny: no qrels found, expected a collection with topics and qrels\n")


def test_retrieval_leaves_an_index_of_other_documents_alone(collection, tmp_path, run_cli):
    (tmp_path / "other.jsonl").write_text('{"docno": "a", "title": "", "body": "text"}\n')
    assert run_cli("index", "other.jsonl", "-i", "indexes/tiny")[0] == 0
    code, _, err = run_cli("reproduce", "retrieval", "tiny")
    assert code == 2
    assert "indexes/tiny: was made from" in err
    assert "expected an index of tiny" in err
