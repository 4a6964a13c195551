import json

import pytest

from searchlab.report import plots
from searchlab.reproduction import retrieval


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """What figures look like is tested elsewhere."""
    monkeypatch.setattr(plots, "_draw_svg", lambda *arguments, **options: "<svg xmlns='http://www.w3.org/2000/svg'/>")


@pytest.fixture
def folds(tmp_path, run_cli):
    """A working folder with a fold in `ltr`."""
    folder = tmp_path / "ltr" / "Fold1"
    folder.mkdir(parents=True)
    for part, qids in {"train": ("1", "2", "3"), "vali": ("4",), "test": ("5", "6")}.items():
        rows = [(2, 0.9, 0.3), (1, 0.6, 0.1), (0, 0.2, 0.7)]
        lines = [f"{grade} qid:{qid} 1:{one} 2:{two}\n" for qid in qids for grade, one, two in rows]
        (folder / f"{part}.txt").write_text("".join(lines))
    return tmp_path


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


def test_letor_without_a_folder_prints_the_table_alone(folds, run_cli):
    code, out, err = run_cli("reproduce", "letor", "ltr", "--rankers", "rsvm,single", "--jobs", "1", "--json", "x.json")
    assert code == 0, err
    header, first, second, *_ = out.splitlines()
    assert header.split()[:2] == ["MAP", "NDCG@1"]
    # The first feature is as the grades are: all is perfect.
    assert first.split()[:3] == ["rsvm", "1.0000*", "1.0000*"]
    assert second.split()[0] == "single"
    record = json.loads((folds / "x.json").read_text())
    assert record["rankers"]["rsvm"]["MAP"] == 1
    assert [fold["fold"] for fold in record["rankers"]["single"]["folds"]] == ["Fold1"]
    assert sorted(path.name for path in folds.iterdir()) == ["ltr", "x.json"]


def test_letor_with_a_folder_writes_a_report(folds, run_cli):
    options = ("--rankers", "rsvm,rsvm-ir", "--jobs", "1", "--queries", "5,1", "-o", "out/deep")
    code, out, err = run_cli("reproduce", "letor", "ltr", *options)
    assert code == 0, err
    assert "2 rankers on 1 fold of ltr: rsvm has the best MAP, 1.0000." in out
    assert "report → out/deep/report.html" in err
    written = {path.name for path in (folds / "out" / "deep").iterdir()}
    assert {"report.html", "report.md", "figure-1b.svg", "figure-6.svg", "table-2.csv", "rankers.csv"} <= written
    assert "query 5 with 3 pairs and query 1 with 3 pairs" in (folds / "out/deep/report.md").read_text()


def test_a_mistake_ends_in_one_line_before_training(folds, run_cli, monkeypatch):
    monkeypatch.setattr("searchlab.reproduction.letor.reproduce", lambda *arguments, **options: pytest.fail("trained"))
    (folds / "file").write_text("")
    for options, message in [
        (("--queries", "5,1"), "--queries is for the figures of a report: expected -o FOLDER"),
        (("--queries", "5,99", "-o", "out"), "query 99 is not in the folds, expected two of their 6 queries"),
        (("--queries", "5", "-o", "out"), "expected two different ones"),
        (("-o", "file"), "file: cannot be written"),
        (("-o", "file/below"), "file/below: cannot be written"),
        (("--rankers", " , "), "--rankers is ' , ', expected at least one name"),
        (("--jobs", "0"), "--jobs is 0, expected 1 or more"),
    ]:
        code, out, err = run_cli("reproduce", "letor", "ltr", *options)
        assert code in (1, 2)
        assert out == ""
        assert message in err
        assert len(err.splitlines()) == 1
    assert not (folds / "out").exists()


def test_the_simulation_prints_a_table_and_a_verdict(tmp_path, run_cli):
    code, out, err = run_cli("reproduce", "simulation", "--runs", "1", "--seed", "3", "-o", "sim")
    assert code == 0, err
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2:13]] == ["1", *(str(position) for position in range(10, 101, 10))]
    assert "the mean of 1 run, seed 3. The paper's claim" in out
    assert run_cli("reproduce", "simulation", "--runs", "1", "--seed", "3")[1] == out
    assert (tmp_path / "sim" / "report.html").exists()


def test_a_simulation_without_runs_is_refused(run_cli):
    assert run_cli("reproduce", "simulation", "--runs", "0")[::2] == (
        2,
        "searchlab: runs is 0, expected a whole number from 1 to 10000\n",
    )


def test_retrieval_tries_a_collection_and_keeps_its_index_with_the_report(collection, tmp_path, run_cli):
    options = ("--features", "table1", "--rankers", "rsvm", "--folds", "2", "-o", "out")
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
