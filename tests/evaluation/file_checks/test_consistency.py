"""Are files that do not fit together found out, and is the likely cause named?"""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SourceError
from searchlab.evaluation.file_checks.consistency import check_files
from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch
from searchlab.evaluation.file_checks.lenient_reader import detect_kind, read_leniently

TOPICS = "1\tfirst words\n2\tsecond words\n3\tthird\n"
QRELS = "1 0 d-01 1\n1 0 d-02 0\n2 0 d-03 2\n3 0 d-04 1\n"
RUN = "1 Q0 d-01 1 3.0 t\n1 Q0 d-09 2 2.0 t\n2 Q0 d-03 1 1.5 t\n3 Q0 d-04 1 1.0 t\n"
LETOR = "1 qid:1 1:0.5 2:1 #docid = d-01\n0 qid:1 1:0.1 2:0 #docid = d-02\n1 qid:2 1:0.5 2:1 #docid = d-03\n"


@pytest.fixture
def examine(tmp_path, monkeypatch):
    """Write files, and give the findings: problems as they are, remarks behind a sign."""
    monkeypatch.chdir(tmp_path)

    def look(files: dict[str, str], docnos=None) -> list[str]:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        found = check_files(files, docnos, index="the-index")
        assert found.healthy == (not any(finding.problem for finding in found.findings))
        return [str(finding) if finding.problem else f"~ {finding}" for finding in found.findings]

    return look


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TOPICS, "topics"),
        (QRELS, "judgments"),
        ("query-id\tcorpus-id\tscore\n1\td1\t1\n", "judgments"),
        ("1 d1 1\n1 d2 0\n", "judgments"),
        ("1\td1\t0\t0\n1\td2\t0\t0.000000\n", "judgments"),
        ("1 d1 0 0.000000\n1 d2 0 0.000000\n", "judgments"),
        ("1\tflu 1918\n2\tflu 1957\n", "topics"),
        (RUN, "run"),
        (RUN + "1 Q0 broken\n", "run"),
        (LETOR, "features"),
        ("# names: a b\n" + LETOR, "features"),
        ('{"qid": "1", "text": "word"}\n', "topics"),
        ("<top>\n<num> Number: 1\n<title> words\n</top>\n", "topics"),
        ("1\tdeath toll 1918\n2\tflu\n3\tmany more words than four here\n", "topics"),
    ],
)
def test_a_file_is_known_by_its_content(text, kind):
    assert detect_kind(text) == kind


def test_files_that_fit_together_have_no_problems(tmp_path, examine):
    assert examine({"t.tsv": TOPICS, "q.txt": QRELS, "r.run": RUN, "f.letor": LETOR}) == [
        "~ f.letor: 1 of 3 topics of t.tsv not in this file: 3",
        "~ f.letor: 1 of 3 topics of q.txt not in this file: 3",
    ]
    found = check_files([tmp_path / "t.tsv", tmp_path / "q.txt"], {"d-01", "d-02", "d-03", "d-04"})
    assert found.findings == ()
    assert [line.split(" (")[1] for line in found.examined] == ["3 topics)", "judgments, 3 topics)"]


@pytest.mark.parametrize(
    ("files", "findings"),
    [
        (
            {"q.txt": QRELS, "r.run": RUN.replace("\n", "\nq").replace("1 Q0 d-01", "q1 Q0 d-01").removesuffix("q")},
            ["r.run: 3 of 3 topics not in q.txt: q1, q2, q3; likely cause: the prefix 'q' (q1 here, 1 there)"],
        ),
        (
            {"t.tsv": "001\ta\n002\tb\n003\tc\n", "q.txt": QRELS},
            ["q.txt: 3 of 3 topics not in t.tsv: 1, 2, 3; likely cause: leading zeros (1 here, 001 there)"],
        ),
        (
            {"q.txt": QRELS, "r.run": RUN.replace("d-", "D-")},
            [
                "r.run: no document is judged in q.txt: D-01, D-03, D-04 and 1 more; "
                "likely cause: upper and lower case (D-01 here, d-01 there)"
            ],
        ),
        (
            {"q.txt": QRELS, "r.run": RUN.replace("d-0", "d-")},
            [
                "r.run: no document is judged in q.txt: d-1, d-3, d-4 and 1 more; "
                "likely cause: leading zeros (d-1 here, d-01 there)"
            ],
        ),
        (
            {"q.txt": QRELS, "r.run": RUN.replace("2 Q0 d-03", "2 Q0 D-03").replace("3 Q0 d-04", "3 Q0 D-04")},
            [
                "r.run: documents have other docnos than in q.txt: D-03, D-04, d-09; "
                "likely cause: upper and lower case (D-03 here, d-03 there)"
            ],
        ),
        (
            {"q.txt": QRELS, "r.run": RUN.replace("3 Q0", "7 Q0")},
            ["r.run: 1 of 3 topics not in q.txt: 7"],
        ),
        (
            {"q.txt": QRELS, "r.run": RUN.removesuffix("3 Q0 d-04 1 1.0 t\n")},
            ["r.run: 1 of 3 judged topics of q.txt not in the run: 3; they score 0 or are left out"],
        ),
        ({"t.tsv": TOPICS + "4\tfourth\n", "q.txt": QRELS}, ["~ q.txt: 1 of 4 topics of t.tsv not in this file: 4"]),
        ({"t.tsv": TOPICS + "2\tagain\n"}, ["t.tsv:4: topic 2: a qid occurs twice"]),
        (
            {"q.txt": QRELS + "1 0 d-01 1\n2 0 d-03 2\n"},
            ["q.txt:5: d-01 of topic 1: a document is judged twice for its topic (and 1 more)"],
        ),
        (
            {"q.txt": QRELS + "1 0 d-01 0\n"},
            ["q.txt:5: d-01 of topic 1: a document is judged with two grades for its topic"],
        ),
        (
            {"q.txt": QRELS + "9 0 d-01 0\n8 0 d-01 -1\n"},
            ["q.txt: 2 topics without a relevant document: 9, 8; they score 0"],
        ),
        (
            {"q.txt": QRELS + "9 0 d-01\n9 0 d-01 x\n"},
            ["q.txt:5: expected 4 columns, found 3", "q.txt:6: expected a whole number as grade, found 'x'"],
        ),
        ({"r.run": RUN + "1 Q0 d-01 3 1.0 t\n"}, ["r.run:5: d-01 of topic 1: a document occurs twice for its topic"]),
        (
            {"r.run": RUN.replace("d-09 2 2.0", "d-09 2 9.0")},
            [
                "r.run: ranks contradict scores in 1 topic: 1 (d-01 at rank 1 has 3, d-09 at rank 2 has 9); "
                "evaluation uses scores"
            ],
        ),
        ({"r.run": RUN.replace("d-09 2", "d-09 1")}, ["r.run: 1 topic with a rank that occurs twice: 1"]),
        (
            {"r.run": RUN + "1 Q0 x 3 nan t\n1 Q0 y z 1 t\n1 Q0 y\n"},
            [
                "r.run:5: expected a finite number as score, found 'nan'",
                "r.run:6: expected a whole number as rank, found 'z'",
                "r.run:7: expected 6 columns, found 3",
            ],
        ),
        (
            {"r.run": RUN.replace("2.0", "3.0")},
            ["~ r.run: 1 of 3 topics with equal scores: 1; their order depends on the evaluation tool"],
        ),
        (
            # By hand: d-01 (relevant) and d-09 are tied: RR and so AP of topic 1 is 1 or ½, of three topics.
            {"q.txt": QRELS, "r.run": RUN.replace("2.0", "3.0")},
            [
                "r.run: 1 of 3 topics with equal scores, whose order could change nDCG@10 from 0.8770 to 1.0000 "
                "(expected 0.9385), AP from 0.8333 to 1.0000 (expected 0.9167)"
            ],
        ),
        ({"x.bin": "\0\1\2"}, ["x.bin: expected topics, judgments, a run or features, found something else"]),
        ({"x.txt": " \n"}, ["x.txt: empty, expected topics, judgments, a run or features"]),
    ],
)
def test_a_problem_is_one_line(examine, files, findings):
    assert examine(files) == findings


def test_documents_are_looked_up_in_the_index(examine):
    assert examine({"q.txt": QRELS, "r.run": RUN}, {"d-01", "d-02", "d-03", "d-04"}) == [
        "r.run: 1 of 4 documents not in the-index: d-09"
    ]
    assert examine({"q.txt": QRELS}, {"d-1", "d-2", "d-3", "d-4"}) == [
        "q.txt: 4 of 4 documents not in the-index: d-01, d-02, d-03 and 1 more; "
        "likely cause: leading zeros (d-01 here, d-1 there)"
    ]


def test_a_file_that_is_not_there_is_a_finding_like_others(examine, tmp_path):
    (tmp_path / "q.txt").write_text(QRELS)
    found = check_files([tmp_path / "none.txt", tmp_path / "q.txt"])
    assert [str(finding) for finding in found.findings] == [f"{tmp_path / 'none.txt'}: no such file or folder"]
    assert len(found.examined) == 1


def test_judgments_that_list_relevant_documents_alone_are_understood(tmp_path):
    (tmp_path / "cisi.rel").write_text("1 28 0 0.000000\n1 35 0 0.000000\n2 29 0 0\n")
    assert read_leniently(tmp_path / "cisi.rel").grades == {"1": {"28": 1, "35": 1}, "2": {"29": 1}}


def test_packed_files_are_read_too(tmp_path):
    with gzip.open(tmp_path / "r.run.gz", "wt") as file:
        file.write(RUN)
    assert (read_leniently(tmp_path / "r.run.gz").kind, read_leniently(tmp_path / "r.run.gz").qids) == (
        "run",
        {"1", "2", "3"},
    )


def write_fold(folder, name, train, valid, test):
    (folder / name).mkdir(parents=True)
    for part, qids in (("train", train), ("vali", valid), ("test", test)):
        (folder / name / f"{part}.txt").write_text("".join(f"1 qid:{qid} 1:0.5\n" for qid in qids))


def test_folds_that_leak_are_found(tmp_path):
    write_fold(tmp_path / "good", "Fold1", "123", "4", "56")
    write_fold(tmp_path / "good", "Fold2", "456", "1", "23")
    found = check_files([tmp_path / "good"])
    assert found.findings == ()
    assert found.examined == (f"{tmp_path / 'good'} (2 folds, 6 queries)",)
    write_fold(tmp_path / "bad", "Fold1", "1234", "4", "25")
    write_fold(tmp_path / "bad", "Fold2", "346", "1", "25")
    fold = tmp_path / "bad" / "Fold"
    assert [str(finding) for finding in check_files([tmp_path / "bad"]).findings] == [
        f"{fold}1: 1 query in the training set and in the validation set: 4",
        f"{fold}1: 1 query in the training set and in the test set: 2",
        f"{fold}2: 2 queries of the test set also in the test set of Fold1: 2, 5",
    ]


def test_folds_that_cannot_be_read_are_a_problem(tmp_path):
    write_fold(tmp_path, "Fold1", "1", "2", "3")
    (tmp_path / "Fold1" / "test.txt").unlink()
    found = check_files([tmp_path])
    assert not found.healthy
    assert "expected one file of the test part" in str(found.findings[0])


def test_a_collection_stands_for_its_topics_and_judgments(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"docno": "d-01", "body": "x"}\n')
    (tmp_path / "topics.tsv").write_text(TOPICS)
    (tmp_path / "qrels.txt").write_text(QRELS)
    assert [line.rpartition("/")[2] for line in check_files([tmp_path]).examined] == [
        "topics.tsv (3 topics)",
        "qrels.txt (judgments, 3 topics)",
    ]
    for name in ("topics.tsv", "qrels.txt"):
        (tmp_path / name).unlink()
    with pytest.raises(SourceError, match="found only documents"):
        check_files([tmp_path])


@pytest.mark.parametrize(
    ("strange", "wanted", "cause"),
    [
        (["Q1", "Q2"], ["q1", "q2"], "upper and lower case (Q1 here, q1 there)"),
        (["7"], ["007"], "leading zeros (7 here, 007 there)"),
        (["1.07"], ["1.7"], ""),
        (["doc12", "doc7"], ["12", "7"], "the prefix 'doc' (doc12 here, 12 there)"),
        (["12", "7"], ["doc12", "doc7"], "the prefix 'doc' (12 here, doc12 there)"),
        (["q1"], ["1"], "the prefix 'q' (q1 here, 1 there)"),
        (["a-1", "a-2"], ["b_1", "b_2"], "the prefix 'a-' here for 'b_' there (a-1 here, b_1 there)"),
        (["t-1", "t-22"], ["001", "022"], "the prefix 't-' and leading zeros (t-1 here, 001 there)"),
        (["x.txt", "y.txt"], ["x", "y"], "the suffix '.txt' (x.txt here, x there)"),
        (["A-1", "b-2"], ["a-01", "B-02"], "case and leading zeros (A-1 here, a-01 there)"),
        (["a", "b"], ["c", "d"], ""),
        # One in a hundred says nothing of the others.
        (["A", *map(str, range(99))], ["a", *map(chr, range(300, 399))], ""),
        ([], ["a"], ""),
        (["a"], [], ""),
    ],
)
def test_the_likely_cause_is_what_turns_most_names_into_those_that_are_missing(strange, wanted, cause):
    assert explain_mismatch(strange, wanted) == (f"; likely cause: {cause}" if cause else "")


@given(st.sets(st.integers(1, 10_000), min_size=3, max_size=30), st.sampled_from(["q", "MED-", "x_", "topic "]))
def test_any_prefix_is_found_out(numbers, prefix):
    wanted = {f"{number}" for number in numbers}
    told = explain_mismatch(sorted(prefix + name for name in wanted), wanted)
    assert told.startswith(f"; likely cause: the prefix {prefix!r} (")
