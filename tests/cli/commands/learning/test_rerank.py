def test_equal_scores_are_ranked_by_docno_and_rows_without_one_get_a_name(collection, run_cli):
    (collection / "f.txt").write_text("0 qid:7 1:1 #docid = a\n1 qid:7 1:1 #docid = b\n0 qid:7 1:2\n0 qid:8 1:1\n")
    (collection / "t.txt").write_text("0 qid:1 1:1 #docid = a\n1 qid:1 1:2 #docid = b\n")
    options = ["--ranker", "linear", "--normalise", "none", "--folds", 0]
    assert run_cli("train", "t.txt", *options, "-o", "m.json")[0] == 0
    code, out, err = run_cli("rerank", "m.json", "f.txt")
    assert code == 0
    assert [line.split()[:5] for line in out.splitlines()] == [
        ["7", "Q0", "7-3", "1", "2.0"],
        ["7", "Q0", "b", "2", "1.0"],
        ["7", "Q0", "a", "3", "1.0"],
        ["8", "Q0", "8-1", "1", "1.0"],
    ]
    assert "2 rows without a docno, named by query and row, such as 7-3" in err
    (collection / "f.txt").write_text("0 qid:7 1:1 #docid = 7-2\n1 qid:7 1:1\n")
    assert run_cli("rerank", "m.json", "f.txt", "-o", "r.run")[0] == 2
    assert not (collection / "r.run").exists()


def test_features_that_a_file_lacks_are_named(collection, model, run_cli):
    run_cli("features", "--features", "nallapati", "-o", "f.txt")
    code, out, err = run_cli("rerank", model, "f.txt", "-o", "r.run")
    assert (code, out) == (2, "")
    assert "the model needs table1.both.log_tf, " in err
    assert "which the table lacks; it has nallapati." in err
    assert not (collection / "r.run").exists()
