"""Can runs be evaluated, compared and fused from the command line, and are mistakes told?"""

import csv
import io
import json

import pytest

from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.formatting import FORMATS
from searchlab.evaluation.fusion import METHODS
from searchlab.evaluation.measure_families import FAMILIES

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 d 1\n3 0 e 0\n4 0 f 1\n"
# Topic 1 ranks b, a, c (grades 0, 2, 1), topic 2 ranks d first, topic 3 has nothing relevant, 4 is missing.
GOOD = "1 Q0 b 1 3.0 g\n1 Q0 a 2 2.0 g\n1 Q0 c 3 1.0 g\n2 Q0 d 1 1.0 g\n3 Q0 e 1 1.0 g\n9 Q0 e 1 1.0 g\n"
BAD = "1 Q0 b 1 3.0 g\n1 Q0 x 2 2.0 g\n2 Q0 y 1 5.0 g\n2 Q0 d 2 4.0 g\n3 Q0 e 1 1.0 g\n4 Q0 f 1 1.0 g\n"


@pytest.fixture
def files(tmp_path, run_cli):
    """A working folder with judgments and two runs."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.run").write_text(GOOD)
    (tmp_path / "bad.run").write_text(BAD)
    return tmp_path


def test_runs_are_evaluated_side_by_side_and_the_rules_are_said(files, run_cli):
    code, out, err = run_cli("eval", "qrels.txt", "good.run", "bad.run", "-m", "RR", "-m", "P@2", "-m", "num_ret")
    assert code == 0
    table, rules = out.split("\n\n")
    # By hand: RR of good is (1/2 + 1 + 0)/3, of bad (0 + 1/2 + 0 + 1)/4.
    assert table.splitlines() == [
        "run       RR     P@2  num_ret  topics",
        "good  0.5000  0.3333        5       3",
        "bad   0.3750  0.2500        6       4",
    ]
    assert rules.strip() == DIALECTS["trec"].describe()
    assert err.splitlines() == [
        "good: 1 judged topic not in the run: 4; they are left out, and -c counts 0 for them",
        "good: 1 topic without judgments left out: 9",
        "good: 1 topic without relevant documents: 3; they count 0",
        "bad: 1 topic without relevant documents: 3; they count 0",
    ]


def test_every_topic_is_printed_as_trec_eval_does(files, run_cli):
    code, out, err = run_cli("eval", "qrels.txt", "good.run", "-q", "-m", "nDCG@3", "-m", "NumQ", "--format", "trec")
    assert code == 0
    assert out.splitlines() == [
        "ndcg_cut_3            \t1\t0.6697",  # (2/log2(3) + 1/2)/(2 + 1/log2(3))
        "ndcg_cut_3            \t2\t1.0000",
        "ndcg_cut_3            \t3\t0.0000",
        "ndcg_cut_3            \tall\t0.5566",
        "num_q                 \tall\t3",
    ]
    assert DIALECTS["trec"].describe() in err


def test_missing_topics_count_0_in_a_complete_evaluation(files, run_cli):
    _, out, err = run_cli("eval", "qrels.txt", "good.run", "-c", "-m", "RR")
    assert out.splitlines()[1].split() == ["good", "0.3750", "4"]
    assert "1 judged topic not in the run: 4; they count 0" in err


def test_other_rules_give_other_numbers(files, run_cli):
    def value(*options):
        return (
            run_cli("eval", "qrels.txt", "good.run", "-m", "nDCG@3", "-m", "AP", *options)[1]
            .splitlines()[1]
            .split()[1:3]
        )

    # Topic 1 ranks the grades 0, 2, 1: letor3 has (3 + 1/log2(3))/4, paper (3/log2(3) + 1/2)/(3 + 1/log2(3)).
    assert value("--dialect", "letor3") == ["0.6359", "0.5278"]
    assert value("--dialect", "letor4") == ["0.3026", "0.5278"]  # topic 2 has one document only
    assert value("--dialect", "paper") == ["0.5530", "0.1667"]
    assert value("-l", "2") == ["0.5566", "0.1667"]


def test_evaluations_are_written_as_csv_json_and_latex(files, run_cli):
    rows = list(
        csv.DictReader(io.StringIO(run_cli("eval", "qrels.txt", "good.run", "-q", "-m", "RR", "--format", "csv")[1]))
    )
    assert [(row["topic"], float(row["RR"])) for row in rows] == [("1", 0.5), ("2", 1), ("3", 0), ("all", 0.5)]
    record = json.loads(run_cli("eval", "qrels.txt", "good.run", "-m", "RR", "--format", "json")[1])
    assert record["runs"][0]["means"] == {"RR": 0.5}
    assert record["runs"][0]["missing"] == ["4"]
    assert "\\begin{tabular}{lr}" in run_cli("eval", "qrels.txt", "good.run", "-m", "RR", "--format", "latex")[1]


def test_ties_that_matter_are_told(files, run_cli):
    (files / "tied.run").write_text("1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n1 Q0 c 3 1 t\n")
    _, out, err = run_cli("eval", "qrels.txt", "tied.run", "-m", "nDCG@3", "-m", "NumRel")
    assert out.splitlines()[1].split()[1] == "0.7602"  # c, b, a have grades 1, 0, 2: (1 + 2/2)/(2 + 1/log2(3))
    assert "warning: tied: 1 of 1 topic with equal scores, whose order could change nDCG@3 from 0.6199 to 1.0000" in err


def test_judgments_of_a_collection_are_found_in_its_folder(files, run_cli):
    (files / "mine").mkdir()
    (files / "mine" / "docs.jsonl").write_text('{"docno": "a"}\n')
    (files / "mine" / "topics.tsv").write_text("1\tx\n")
    (files / "mine" / "qrels.txt").write_text(QRELS)
    code, _, err = run_cli("eval", "mine", "good.run")
    assert code == 0
    assert "judgments: mine/qrels.txt" in err


def test_a_run_is_read_from_a_pipe(files, run_cli, monkeypatch):
    class Pipe:
        closed = False
        buffer = io.BufferedReader(io.BytesIO(GOOD.encode()))

    monkeypatch.setattr("sys.stdin", Pipe())
    assert run_cli("eval", "qrels.txt", "-", "-m", "RR")[1].splitlines()[1].split()[1] == "0.5000"


def test_measures_and_rules_are_listed(run_cli):
    code, out, _ = run_cli("eval", "--list")
    assert code == 0
    assert [name for name in FAMILIES if f"\n{name}" not in out] == []
    assert [dialect.name for dialect in DIALECTS.values() if dialect.describe() not in out] == []


def test_the_help_names_all_there_is(run_cli):
    text = run_cli("eval", "--help")[1]
    assert [name for name in [*FORMATS, *DIALECTS] if name not in text] == []
    text = run_cli("fuse", "--help")[1]
    assert [name for name in METHODS if name not in text] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["eval", "qrels.txt"], "expected judgments and at least a run, found 0 runs"),
        (["eval"], "expected judgments and at least a run"),
        (["eval", "qrels.txt", "good.run", "-m", "ndcg@10"], "unknown measure 'ndcg@10' (did you mean nDCG@10"),
        (["eval", "qrels.txt", "good.run", "--dialect", "letor"], "unknown dialect 'letor'"),
        (["eval", "qrels.txt", "good.run", "--format", "tex"], "unknown format 'tex'"),
        (["eval", "qrels.txt", "good.run", "-l", "0"], "level is 0, expected a whole number of at least 1"),
        (["eval", "qrels.txt", "good.run", "good.run"], "a run is named twice: good.run, good.run"),
        (["eval", "qrels.txt", "-", "-"], "standard input (-) is named twice"),
        (["eval", "qrels.txt", "gone.run"], "gone.run"),
        (["eval", ".", "good.run"], ".: expected a file of judgments, found a folder without any"),
        (["eval", "qrels.txt", "nan.run"], "nan.run:1: expected a finite number as score, found 'nan'"),
        (
            ["eval", "qrels.txt", "other.run"],
            "other.run: shares no topic with the judgments: it has q1, judged are 1, 2, 3 and 1 more",
        ),
        (["compare", "qrels.txt", "good.run"], "expected judgments and at least two runs, found 1 run"),
        (
            ["compare", "qrels.txt", "good.run", "bad.run", "--baseline", "bm25"],
            "unknown baseline 'bm25'; there is: bad",
        ),
        (["compare", "qrels.txt", "good.run", "bad.run", "-m", "NumRet"], "measure NumRet is a total over topics"),
        (["compare", "qrels.txt", "good.run", "bad.run", "--format", "csv"], "unknown format 'csv'"),
        (["compare", "qrels.txt", "good.run", "bad.run", "--seed", "-1"], "seed is -1"),
        (["fuse", "good.run"], "found 1 run, expected at least two to fuse"),
        (["fuse", "good.run", "bad.run", "--method", "rff"], "unknown method 'rff' (did you mean rrf?)"),
        (["fuse", "good.run", "bad.run", "-k", "0"], "k is 0"),
    ],
)
def test_mistakes_are_one_line(files, run_cli, arguments, complaint):
    (files / "nan.run").write_text("1 Q0 a 1 nan x\n")
    (files / "other.run").write_text("q1 Q0 a 1 1 x\n")
    code, out, err = run_cli(*arguments)
    assert code in (1, 2)
    assert out == ""
    assert complaint in err
    assert err.startswith("searchlab: ")
    assert len(err.splitlines()) == 1


def test_runs_are_compared_on_their_common_topics(files, run_cli):
    code, out, err = run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "RR, 3 topics"
    assert lines[2].split() == ["good", "0.5000"]
    assert lines[3].split()[:4] == ["bad", "0.1667", "good", "-0.3333"]
    # Both differences are -1/2: of four assignments of signs, two are as extreme.
    sentence = "bad is worse than good on 2 of 3 topics, better on 0, equal on 1: RR -.333, p = .50; this may be chance"
    assert sentence in lines
    assert DIALECTS["trec"].describe() in lines
    assert "1 topic left out, which not all runs have: 4; -c counts 0 for them" in err


def test_another_baseline_and_all_pairs(files, run_cli):
    (files / "third.run").write_text(GOOD)
    out = run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR", "--baseline", "bad.run", "-c")[1]
    assert "good and bad have equal means: better on 2 of 4 topics, worse on 1, equal on 1: RR .3750" in out
    out = run_cli("compare", "qrels.txt", "good.run", "bad.run", "third.run", "-m", "RR", "--all-pairs")[1]
    assert out.count("RR -.333") == 1
    assert "third and good have equal means: better on 0 of 3 topics, worse on 0, equal on 3: RR .5000" in out
    assert "third is better than bad" in out
    assert "after correction" in out
    assert "p-values are corrected (Holm)" in out


def test_a_comparison_is_written_as_json(files, run_cli):
    record = json.loads(run_cli("compare", "qrels.txt", "good.run", "bad.run", "-m", "RR", "--format", "json")[1])
    (found,) = record["comparisons"]
    assert (found["wins"], found["ties"], found["losses"], found["topics"]) == (0, 1, 2, 3)
    assert found["p"]["randomisation"] == 0.5
    assert record["left_out"] == ["4"]


def test_runs_are_fused_and_written(files, run_cli):
    code, out, err = run_cli("fuse", "good.run", "bad.run", "-o", "fused.run", "-k", "2")
    assert (code, out) == (0, "")
    assert err == "2 runs fused by rrf: 5 topics, 7 results → fused.run\n"
    lines = (files / "fused.run").read_text().splitlines()
    assert lines[:2] == [f"1 Q0 b 1 {2 / 61!r} rrf", f"1 Q0 x 2 {1 / 62!r} rrf"]  # x before a: descending docnos
    printed = run_cli("fuse", "good.run", "bad.run", "--method", "borda", "--tag", "mine")[1]
    assert printed.splitlines()[0] == "1 Q0 b 1 8.0 mine"
