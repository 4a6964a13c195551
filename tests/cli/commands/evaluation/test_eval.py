import csv
import io
import json

import pytest

from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.formatting import FORMATS
from searchlab.evaluation.measure_families import FAMILIES, MEASURE_SETS
from tests.cli.commands.evaluation.run_files import GOOD, QRELS


def test_runs_are_evaluated_side_by_side_with_their_rules(files, run_cli):
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
        "warning: good: 1 judged topic not in the run: 4; they are left out, and -c counts 0 for them",
        "warning: good: 1 topic without judgments left out: 9",
        "warning: good: 1 topic without relevant documents: 3; they count 0",
        "warning: bad: 1 topic without relevant documents: 3; they count 0",
    ]


def test_measures_may_be_a_list_with_commas_and_a_set(files, run_cli):
    out = run_cli("eval", "qrels.txt", "good.run", "-m", "RR,RBP(p=0.5,rel=2)", "-m", "P@2")[1]
    assert out.splitlines()[0].split() == ["run", "RR", "RBP(p=0.5,rel=2)", "P@2", "topics"]
    out = run_cli("eval", "qrels.txt", "good.run", "-m", "all_trec", "--format", "trec")[1]
    assert [line.split()[0] for line in out.splitlines()] == list(MEASURE_SETS["all_trec"])


def test_every_topic_is_printed_as_trec_eval_does(files, run_cli):
    code, out, err = run_cli(
        "eval", "qrels.txt", "good.run", "--per-topic", "-m", "nDCG@3", "-m", "NumQ", "--format", "trec"
    )
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
        csv.DictReader(
            io.StringIO(run_cli("eval", "qrels.txt", "good.run", "--per-topic", "-m", "RR", "--format", "csv")[1])
        )
    )
    assert [(row["topic"], float(row["RR"])) for row in rows] == [("1", 0.5), ("2", 1), ("3", 0), ("all", 0.5)]
    record = json.loads(run_cli("eval", "qrels.txt", "good.run", "-m", "RR", "--format", "json")[1])
    assert record["runs"][0]["means"] == {"RR": 0.5}
    assert record["runs"][0]["missing"] == ["4"]
    assert "\\begin{tabular}{@{}lr@{}}" in run_cli("eval", "qrels.txt", "good.run", "-m", "RR", "--format", "latex")[1]


def test_ties_that_could_move_a_mean_are_warned_of(files, run_cli):
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


def test_the_help_names_every_format_and_dialect(run_cli):
    text = run_cli("eval", "--help")[1]
    assert [name for name in [*FORMATS, *DIALECTS] if name not in text] == []


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
    ],
)
def test_a_mistake_ends_in_one_line(files, run_cli, arguments, complaint):
    (files / "nan.run").write_text("1 Q0 a 1 nan x\n")
    (files / "other.run").write_text("q1 Q0 a 1 1 x\n")
    code, out, err = run_cli(*arguments)
    assert code in (1, 2)
    assert out == ""
    assert complaint in err
    assert err.startswith("searchlab: ")
    assert len(err.splitlines()) == 1
