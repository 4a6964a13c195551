from pathlib import Path

import searchlab


def test_run_writes_a_trec_run(here, run_cli):
    code, out, err = run_cli("run", "--topics", "topics.tsv", "--tag", "mine")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert [(qid, q0, docno, rank, tag) for qid, q0, docno, rank, _, tag in lines] == [
        ("1", "Q0", "med-1", "1", "mine"),
        ("1", "Q0", "med-2", "2", "mine"),
        ("2", "Q0", "aero", "1", "mine"),
    ]
    expected = searchlab.open(here / "indexes" / "small").search("t-cell lymphoma").scores.tolist()
    assert [float(line[4]) for line in lines[:2]] == expected
    assert err.splitlines()[-2:] == ["3 topics, 3 results", "1 topic without results: 3"]


def test_run_writes_a_file_that_appears_when_it_is_complete(here, run_cli):
    code, out, err = run_cli("run", "--topics", "topics.tsv", "-o", "run.txt", "-k", "1", "--scorer", "jm")
    assert (code, out) == (0, "")
    assert [line.split()[2:6:3] for line in Path("run.txt").read_text().splitlines()] == [
        ["med-1", "jm"],
        ["aero", "jm"],
    ]
    assert "3 topics, 2 results → run.txt" in err


def test_run_fuses_the_rankings_of_several_streams(tmp_path, run_cli, docs):
    (tmp_path / "docs.jsonl").write_text(docs)
    (tmp_path / "topics.tsv").write_text("1\tlymphma cells\n")
    assert run_cli("index", "docs.jsonl", "--ngrams", "3", "-i", "ngrams")[0] == 0
    for stream in ("both", "ngrams"):
        assert run_cli("run", "--topics", "topics.tsv", "--stream", stream, "-o", f"{stream}.run")[0] == 0
    for method in ("rrf", "combsum"):
        run_cli("fuse", "both.run", "ngrams.run", "--method", method, "--tag", f"bm25-{method}", "-o", "fused.run")
        code, out, _ = run_cli("run", "--topics", "topics.tsv", "--stream", "both,ngrams", "--fuse", method)
        assert (code, out) == (0, Path("fused.run").read_text())
    code, _, err = run_cli("run", "--topics", "topics.tsv", "--stream", "both,ngrams", "--fuse", "rff")
    assert (code, err.splitlines()[-1][:52]) == (2, "searchlab: unknown method of fusion 'rff' (did you m")


def test_run_leaves_the_file_as_it_was_if_it_fails(here, run_cli):
    Path("run.txt").write_text("old")
    before = sorted(path.name for path in here.iterdir())
    assert run_cli("run", "--topics", "topics.tsv", "-o", "run.txt", "-k", "0")[0] == 2
    assert Path("run.txt").read_text() == "old"
    assert sorted(path.name for path in here.iterdir()) == before


def test_run_finds_the_topics_of_the_collection(tmp_path, run_cli, docs):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "docs.jsonl").write_text(docs)
    (tmp_path / "mine" / "topics.tsv").write_text("1\tlymphoma\n")
    (tmp_path / "mine" / "qrels.txt").write_text("1 0 med-1 1\n")
    _, _, err = run_cli("index", "mine")
    assert err == "mine is a collection with topics topics.tsv and judgments qrels.txt: `searchlab run` uses them\n"
    code, out, err = run_cli("run")
    assert code == 0
    assert out.split()[:3] == ["1", "Q0", "med-1"]
    assert f"topics: {tmp_path / 'mine' / 'topics.tsv'}" in err


def test_topics_are_plain_words_unless_full_syntax_is_wanted(here, run_cli):
    (here / "operators.tsv").write_text("1\tcell -prison\n")
    docnos = {}
    for name, options in [("default", []), ("plain", ["--syntax", "plain"]), ("full", ["--syntax", "full"])]:
        code, out, _ = run_cli("run", "--topics", "operators.tsv", *options)
        assert code == 0
        docnos[name] = [line.split()[2] for line in out.splitlines()]
    assert sorted(docnos["plain"]) == ["med-1", "med-2"]
    assert docnos["default"] == docnos["plain"]
    assert docnos["full"] == ["med-1"]


def test_topics_are_an_option_and_not_an_argument(here, run_cli):
    code, out, err = run_cli("run", "topics.tsv")
    assert (code, out) == (2, "")
    assert err.endswith("(topics.tsv); see searchlab run --help\n")


def test_run_names_the_first_topics_without_results_and_with_verbose_all(here, run_cli):
    (here / "many.tsv").write_text("".join(f"{number}\tunheard\n" for number in range(12)))
    line = "12 topics without results: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert f"{line} and 2 more\n" in run_cli("run", "--topics", "many.tsv")[2]
    assert f"{line}, 10, 11\n" in run_cli("run", "--topics", "many.tsv", "-v")[2]


def test_topics_may_be_numbered_by_their_order(here, run_cli):
    (here / "numbered.qry").write_text(".I 007\n.W\nlymphoma\n.I 009\n.W\nlymphoma\n")
    written, ordinal = (
        {line.split()[0] for line in run_cli("run", "--topics", "numbered.qry", *options)[1].splitlines()}
        for options in ([], ["--topic-ids", "ordinal"])
    )
    assert (written, ordinal) == ({"007", "009"}, {"1", "2"})
