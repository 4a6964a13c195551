"""Can experiments be run, scorers tuned and files examined from the command line, and are mistakes told?"""

import json

import pytest

from searchlab.experiments import report_builder
from searchlab.retrieval.pipeline import Pipeline

N_TOPICS = 12
PLAN = """
index = "it"
topics = "topics.tsv"
qrels = "qrels.txt"
output = "out"
measures = ["RR", "AP"]
[folds]
number = 2
[[systems]]
name = "length"
scorer = "bm25"
[[systems]]
name = "no length"
scorer = "bm25"
settings = {b = 0}
"""


@pytest.fixture
def home(tmp_path, run_cli, monkeypatch):
    """A working folder with an index, topics, judgments and a plan: answers are long, and have the word twice."""
    documents = []
    for n in range(N_TOPICS):
        documents.append({"docno": f"long{n}", "body": f"word{n} word{n} " + "filler " * 30})
        documents.append({"docno": f"short{n}", "body": f"word{n} filler"})
    (tmp_path / "it.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (tmp_path / "topics.tsv").write_text("".join(f"{n}\tword{n}\n" for n in range(N_TOPICS)))
    (tmp_path / "qrels.txt").write_text("".join(f"{n} 0 long{n} 1\n{n} 0 short{n} 0\n" for n in range(N_TOPICS)))
    (tmp_path / "plan.toml").write_text(PLAN)
    assert run_cli("index", "it.jsonl")[0] == 0
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'
    for name in ("bars", "curves", "differences", "precision_recall"):
        monkeypatch.setattr(report_builder, name, lambda *given, **named: drawing)
    return tmp_path


def test_an_experiment_prints_a_table_a_sentence_and_where_the_report_is(home, run_cli):
    code, out, err = run_cli("experiment", "plan.toml")
    assert code == 0
    lines = out.splitlines()
    assert lines[:3] == [
        "                 RR        AP",
        "length       0.5000    0.5000",
        "no length    1.0000+   1.0000+",
    ]
    assert lines[-1] == (
        "no length ranks better than length, and that is hardly chance: RR 1.0000 against .5000 on 12 topics "
        "(12 better, 0 worse, p < .001)."
    )
    assert "rules of trec" in out.lower()
    assert err.splitlines() == ["→ out/report.html"]
    assert (home / "out" / "report.html").is_file()
    assert (home / "out" / "runs" / "no-length.run").is_file()


def test_the_same_again_does_nothing_and_says_so(home, run_cli):
    first = run_cli("experiment", "plan.toml")
    again = run_cli("experiment", "plan.toml")
    assert again[:2] == first[:2]
    assert again[2].splitlines()[0] == "nothing to do: these results were there already; --fresh computes them anew"
    assert "nothing to do" not in run_cli("experiment", "plan.toml", "--fresh")[2]
    assert "nothing to do" not in run_cli("experiment", "plan.toml", "-o", "elsewhere")[2]
    assert (home / "elsewhere" / "manifest.json").is_file()


def test_an_interruption_is_told_and_the_folder_can_be_gone_on_with(home, run_cli, monkeypatch):
    search, calls = Pipeline.run, []

    def interrupted(pipeline, *given, **named):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return search(pipeline, *given, **named)

    monkeypatch.setattr(Pipeline, "run", interrupted)
    code, out, err = run_cli("experiment", "plan.toml")
    assert (code, out) == (130, "")
    assert err.splitlines() == [
        "what is done is kept in out; the same command goes on from there",
        "searchlab: interrupted",
    ]
    assert run_cli("experiment", "plan.toml")[0] == 0
    # The first search is not made again.
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("before", "after", "code", "message"),
    [
        (
            "number = 2",
            "numbr = 2",
            1,
            "plan.toml: [folds] numbr: unknown key (did you mean number?), expected number, ",
        ),
        ("number = 2", "number = 20", 1, "plan.toml: [folds]: 20 folds for 12 queries, expected at least one"),
        ('"it"', '"that"', 1, "indexes/that: no index here; `searchlab index SOURCE -i indexes/that` makes one"),
        ("topics.tsv", "none.tsv", 1, "none.tsv: no such file or folder"),
        ('"out"', '"topics.tsv"', 1, "topics.tsv: found a file, expected a folder for results"),
    ],
)
def test_a_mistake_in_a_plan_is_one_line(home, run_cli, before, after, code, message):
    (home / "plan.toml").write_text(PLAN.replace(before, after))
    found = run_cli("experiment", "plan.toml")
    assert found[:2] == (code, "")
    assert found[2].startswith(f"searchlab: {message}")
    assert len(found[2].splitlines()) == 1


def test_jobs_are_checked(home, run_cli):
    assert run_cli("experiment", "plan.toml", "-j", 0) == (2, "", "searchlab: --jobs is 0, expected 1 or more\n")


def test_tuning_prints_what_is_best_what_to_expect_and_the_defaults(home, run_cli):
    files = ("-i", "it", "--topics", "topics.tsv", "--qrels", "qrels.txt")
    code, out, err = run_cli("tune", *files, "--grid", "b=0,0.75,1", "--measure", "RR", "--folds", 3)
    assert (code, err) == (0, "")
    assert out.splitlines()[:-1] == [
        "settings      RR  folds",
        "b=0       1.0000      3",
        "b=0.75     .5000",
        "b=1        .5000",
        "",
        "best on all topics    1.0000  b=0 (flattered: these topics chose it)",
        "held-out estimate     1.0000  each of 3 folds with what the others chose",
        "defaults              .5000  b=0.75",
        "",
        "Tuning helps: RR .5000 → 1.0000 on 12 held-out topics (12 better, 0 worse, p < .001); recommended: b=0.",
        "At the end of what was tried: b; better values may lie beyond.",
    ]
    code, out, _ = run_cli("tune", *files, "--grid", "b=0,0.75", "--grid", "k1=1,2", "--measure", "RR", "--json")
    record = json.loads(out)
    assert code == 0
    assert len(record["points"]) == 4
    assert record["best"]["settings"]["b"] == 0
    assert sorted(qid for fold in record["folds"] for qid in fold["qids"]) == sorted(map(str, range(N_TOPICS)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing to tune: expected --grid, such as --grid k1=0.6,0.9,1.2"),
        (["--grid", "b"], "--grid b: expected NAME=VALUE, such as k1=0.6,0.9,1.2"),
        (["--grid", "b=,"], "--grid b: found no values, expected some, such as k1=0.6,0.9,1.2"),
        (["--grid", "b=1", "--grid", "b=0"], "--grid b is given twice, expected all its values in one list"),
        (["--grid", "b=1", "--seed", "-1"], "--seed is -1, expected a whole number from 0"),
        (["--grid", "b=x"], "bm25: b is 'x', expected a number"),
        (["--grid", "b=1", "--scorer", "bm52"], "unknown scorer 'bm52' (did you mean bm25?)"),
    ],
)
def test_a_mistake_in_tuning_is_one_line(home, run_cli, options, message):
    code, out, err = run_cli("tune", "-i", "it", "--topics", "topics.tsv", "--qrels", "qrels.txt", *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"searchlab: {message}")
    assert len(err.splitlines()) == 1


def test_tuning_needs_judgments(home, run_cli):
    code, _, err = run_cli("tune", "-i", "it", "--topics", "topics.tsv", "--grid", "b=0")
    assert (code, err) == (2, "searchlab: no judgments to tune by: expected --qrels\n")


def test_the_doctor_of_files_is_calm_where_nothing_is_wrong(home, run_cli):
    assert run_cli("doctor", "topics.tsv", "qrels.txt", "-i", "it") == (
        0,
        "no problems in topics.tsv (12 topics), qrels.txt (judgments, 12 topics)\n",
        "",
    )


def test_the_doctor_of_files_prints_a_line_for_each_finding_and_fails(home, run_cli):
    (home / "bad.run").write_text("".join(f"q{n} Q0 LONG{n} 1 {n + 1}.0 t\n" for n in range(N_TOPICS)))
    code, out, err = run_cli("doctor", "qrels.txt", "bad.run", "-i", "it")
    assert code == 1
    assert out.splitlines() == [
        "bad.run: 12 of 12 topics not in qrels.txt: q0, q1, q10 and 9 more; "
        "likely cause: the prefix 'q' (q0 here, 0 there)",
        "bad.run: 12 of 12 documents not in indexes/it: LONG0, LONG1, LONG10 and 9 more; "
        "likely cause: upper and lower case (LONG0 here, long0 there)",
    ]
    assert err == "2 problems found\n"


def test_the_doctor_without_files_examines_the_index(home, run_cli):
    code, out, _ = run_cli("doctor", "-i", "it")
    assert (code, out) == (0, "indexes/it: healthy; 24 documents in 1 shard examined\n")


def test_a_remark_is_no_problem(home, run_cli):
    (home / "tied.run").write_text("0 Q0 x 1 1.0 t\n0 Q0 y 2 1.0 t\n")
    code, out, err = run_cli("doctor", "tied.run")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "note: tied.run: 1 of 1 topic with equal scores: 0; their order depends on the evaluation tool",
        "no problems in tied.run (run, 1 topic)",
    ]
