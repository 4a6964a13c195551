import json

import pytest


@pytest.fixture
def collection(tmp_path, run_cli):
    """A working folder with a small collection of graded judgments in `tiny`."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    docs, topics, qrels = [], [], []
    for number in range(6):
        topics.append(f"{number}\tword{number} common\n")
        for grade, text in ((2, f"word{number} word{number} common"), (1, f"word{number} text"), (0, "common text")):
            docs.append({"docno": f"d{number}-{grade}", "title": "", "body": f"{text} of document {number}"})
            qrels.append(f"{number} 0 d{number}-{grade} {grade}\n")
    (folder / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in docs))
    (folder / "topics.tsv").write_text("".join(topics))
    (folder / "qrels.txt").write_text("".join(qrels))
    return folder


def test_ohsumed_prints_all_systems_and_writes_a_report(collection, tmp_path, run_cli):
    options = ("--jobs", "1", "--queries", "1,2", "--query", "3", "-o", "out", "--json", "x.json")
    code, out, err = run_cli("reproduce", "ohsumed", "tiny", *options)
    assert code == 0, err
    names = [line.split()[0] for line in out.splitlines()[1:8]]
    assert names == ["BM25", "LMIR", "rsvm", "rsvm-ir", "rsvm-ir-gd", "rsvm-ir-rank", "rsvm-ir-query"]
    assert "6 topics, 18 documents (6 of grade 2, 6 of grade 1, 6 of grade 0)" in out
    assert "recipe paper: no powers" in out
    assert (tmp_path / "out" / "indexes" / "tiny" / "manifest.json").exists()
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"report.html", "figure-4.svg", "figure-5.svg", "table-2.csv", "table-3.csv", "grades.csv"} <= written
    record = json.loads((tmp_path / "x.json").read_text())
    assert record["topics"] == 6
    assert len(record["systems"]["rsvm-ir"]["folds"]) == 4


def test_ohsumed_refuses_what_it_cannot_use(collection, run_cli, monkeypatch):
    monkeypatch.setattr(
        "searchlab.reproduction.ohsumed_experiment.run_ohsumed", lambda *arguments, **options: pytest.fail("ran")
    )
    for options, message in [
        (("--queries", "1,2"), "--queries is for the figures of a report: expected -o FOLDER"),
        (("--query", "1"), "--query is for the figures of a report: expected -o FOLDER"),
        (("--query", "99", "-o", "out"), "query 99 has no judged documents, expected one of 6"),
        (("--queries", "1,99", "-o", "out"), "query 99 is not in the folds"),
        (("--recipe", "own"), "unknown recipe 'own'"),
        (("--measure", "nDGC@5"), "nDGC"),
        (("--jobs", "0"), "--jobs is 0, expected 1 or more"),
        (("--unjudged", "-1"), "unjudged is -1, expected a whole number from 0"),
    ]:
        code, out, err = run_cli("reproduce", "ohsumed", "tiny", *options)
        assert code in (1, 2)
        assert out == ""
        assert message in err
    (collection / "qrels.txt").write_text("".join(f"{number} 0 d{number}-2 1\n" for number in range(6)))
    code, _, err = run_cli("reproduce", "ohsumed", "tiny")
    assert code == 2
    assert err.splitlines()[-1] == (
        "searchlab: the judged documents of each topic have one grade only (1), expected two grades to make pairs of; "
        "--unjudged N adds documents that are not judged as not relevant"
    )
