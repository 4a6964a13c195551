"""Consistency checks: each problem is found, and its likely cause named."""

import pytest

from searchlab.errors import SourceError
from searchlab.evaluation.file_checks.consistency import check_files
from tests.evaluation.file_checks.numbered_topics import (
    WRITTEN,
    make_judgments,
    make_rankings,
    write_qrels,
    write_run,
    write_topics,
)
from tests.evaluation.file_checks.sample_files import LETOR, QRELS, RUN, TOPICS


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Write files and return the findings; remarks begin with a tilde."""
    monkeypatch.chdir(tmp_path)

    def write_and_check(files: dict[str, str], docnos=None) -> list[str]:
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        found = check_files(files, docnos, index="the-index")
        assert found.healthy == (not any(finding.problem for finding in found.findings))
        return [str(finding) if finding.problem else f"~ {finding}" for finding in found.findings]

    return write_and_check


def test_consistent_files_have_no_problems(tmp_path, check):
    assert check({"t.tsv": TOPICS, "q.txt": QRELS, "r.run": RUN, "f.letor": LETOR}) == [
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
            [
                "r.run: 3 of 3 topics not in q.txt: q1, q2, q3; likely cause: the prefix 'q' (q1 here, 1 there): "
                "then 3 relevant documents are among the best 10, now 0"
            ],
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
            # By hand: d-01 (relevant) and d-09 are tied: AP of topic 1 is 1 or ½, that of the other two topics 1.
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
def test_a_problem_is_one_line(check, files, findings):
    assert check(files) == findings


def test_numbers_by_the_order_of_topics_are_recognised(check):
    qrels, run = write_qrels(make_judgments()), write_run(make_rankings([qid.lstrip("0") for qid in WRITTEN]))
    by_order = "number 3 of 7); --topic-ids ordinal numbers topics by their order"
    topics, judged = check({"t.qry": write_topics(), "q.txt": qrels})[0], check({"q.txt": qrels, "r.run": run})[0]
    assert topics.startswith(
        "q.txt: 7 of 7 topics not in t.qry: 1, 2, 3 and 4 more; likely cause: these are numbers by"
    )
    assert topics.endswith(by_order)
    assert judged.startswith(
        "r.run: 4 of 7 topics not in q.txt: 10, 12, 8 and 1 more; likely cause: the judgments numb"
    )
    # All qids are judged, but as other topics.
    shifted = write_run(make_rankings(["2", "3", "4", "5", "6", "7", "1"]))
    (found,) = check({"q.txt": qrels, "r.run": shifted})
    assert found.startswith("r.run: topics are not those of q.txt, though the qids are; likely cause: the judgments nu")


def test_documents_are_looked_up_in_the_index(check):
    assert check({"q.txt": QRELS, "r.run": RUN}, {"d-01", "d-02", "d-03", "d-04"}) == [
        "r.run: 1 of 4 documents not in the-index: d-09"
    ]
    assert check({"q.txt": QRELS}, {"d-1", "d-2", "d-3", "d-4"}) == [
        "q.txt: 4 of 4 documents not in the-index: d-01, d-02, d-03 and 1 more; "
        "likely cause: leading zeros (d-01 here, d-1 there)"
    ]


def test_a_missing_file_is_a_finding(check, tmp_path):
    (tmp_path / "q.txt").write_text(QRELS)
    found = check_files([tmp_path / "none.txt", tmp_path / "q.txt"])
    assert [str(finding) for finding in found.findings] == [f"{tmp_path / 'none.txt'}: no such file or folder"]
    assert len(found.examined) == 1


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


def test_unreadable_folds_are_a_problem(tmp_path):
    write_fold(tmp_path, "Fold1", "1", "2", "3")
    (tmp_path / "Fold1" / "test.txt").unlink()
    found = check_files([tmp_path])
    assert not found.healthy
    assert "expected one file of the test part" in str(found.findings[0])


def test_a_collection_is_checked_by_its_topics_and_judgments(tmp_path):
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
