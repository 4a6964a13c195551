import json

import pytest


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


def test_letor_without_a_folder_prints_the_table_alone(folds, run_cli):
    code, out, err = run_cli("reproduce", "letor", "ltr", "--rankers", "rsvm,single", "--jobs", "1", "--json", "x.json")
    assert code == 0, err
    header, first, second, third, *_ = out.splitlines()
    assert header.split()[:2] == ["MAP", "NDCG@1"]
    # The first feature is as the grades are: all is perfect.
    assert first.split()[:3] == ["rsvm", "1.0000*", "1.0000*"]
    assert second.startswith("rsvm, tuned ")
    assert third.split()[0] == "single"
    assert "rsvm, tuned: powers of the features, average over the 5 best values of C." in out
    assert "The recipes paper and tuned are one and the same for single." in out
    assert "tuned minus paper" in out
    record = json.loads((folds / "x.json").read_text())
    assert list(record["rankers"]) == ["rsvm", "rsvm, tuned", "single"]
    assert record["rankers"]["rsvm"]["MAP"] == 1
    assert [fold["fold"] for fold in record["rankers"]["single"]["folds"]] == ["Fold1"]
    assert sorted(path.name for path in folds.iterdir()) == ["ltr", "x.json"]


def test_letor_with_a_folder_writes_a_report(folds, run_cli):
    options = ("--rankers", "rsvm,rsvm-ir", "--jobs", "1", "--queries", "5,1", "--query", "6", "-o", "out/deep")
    code, out, err = run_cli("reproduce", "letor", "ltr", *options)
    assert code == 0, err
    assert "2 rankers on 1 fold of ltr: rsvm has the best MAP, 1.0000." in out
    assert "report → out/deep/report.html" in err
    written = {path.name for path in (folds / "out" / "deep").iterdir()}
    assert {"report.html", "report.md", "figure-1b.svg", "figure-6.svg", "table-2.csv", "rankers.csv"} <= written
    assert "query 5 with 3 pairs and query 1 with 3 pairs" in (folds / "out/deep/report.md").read_text()


def test_one_recipe_of_folds_without_validation_sets(folds, run_cli):
    (folds / "ltr" / "Fold1" / "vali.txt").unlink()
    options = ("--rankers", "rsvm", "--recipe", "tuned", "--relevant-from", "2", "--jobs", "1", "--json", "-")
    code, out, err = run_cli("reproduce", "letor", "ltr", *options)
    assert code == 0, err
    assert "settings chosen by AP(rel=2) on parts of the training queries, held out in turn." in out
    assert "tuned minus paper" not in out
    record = json.loads(out[out.index("\n{\n") :])
    assert record["recipes"] == ["tuned"]
    assert record["measure"] == "AP(rel=2)"
    assert list(record["rankers"]) == ["rsvm, tuned"]
    assert record["retrieval_models"] == {}
    assert record["rankers"]["rsvm, tuned"]["recipe"]["powers"] is True


def test_a_mistake_ends_in_one_line_before_training(folds, run_cli, monkeypatch):
    monkeypatch.setattr("searchlab.reproduction.letor.reproduce", lambda *arguments, **options: pytest.fail("trained"))
    (folds / "file").write_text("")
    for options, message in [
        (("--queries", "5,1"), "--queries is for the figures of a report: expected -o FOLDER"),
        (("--query", "5"), "--query is for the figures of a report: expected -o FOLDER"),
        (("--query", "99", "-o", "out"), "query 99 is not in the folds, expected one of their 6 queries"),
        (("--queries", "5,99", "-o", "out"), "query 99 is not in the folds, expected two of their 6 queries"),
        (("--queries", "5", "-o", "out"), "expected two different ones"),
        (("-o", "file"), "file: cannot be written"),
        (("-o", "file/below"), "file/below: cannot be written"),
        (("--rankers", " , "), "--rankers is ' , ', expected at least one name"),
        (("--recipe", "best"), "unknown recipe 'best'"),
        (("--relevant-from", "0"), "relevant_from is 0, expected a grade from 1"),
        (("--n-best", "0"), "n_best is 0, expected a whole number from 1"),
        (("--jobs", "0"), "--jobs is 0, expected 1 or more"),
    ]:
        code, out, err = run_cli("reproduce", "letor", "ltr", *options)
        assert code in (1, 2)
        assert out == ""
        assert message in err
        assert len(err.splitlines()) == 1
    assert not (folds / "out").exists()
