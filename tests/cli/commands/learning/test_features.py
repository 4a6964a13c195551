import re

import pytest

import searchlab
from searchlab.features.feature_sets import FEATURE_SETS

DOCS = """\
{"docno": "a", "title": "heat flow", "body": "heat transfer in laminar flow over wings"}
{"docno": "b", "title": "wings", "body": "lift of wings"}
{"docno": "c", "title": "", "body": "prison cells and heat"}
{"docno": "d", "title": "lift", "body": "flow around bodies"}
"""


@pytest.fixture
def collection(tmp_path, run_cli):
    """A working folder with an indexed collection: documents, topics and judgments."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "docs.jsonl").write_text(DOCS)
    (tmp_path / "mine" / "topics.tsv").write_text("1\theat flow\n2\tlift of wings\n3\tunheard\n")
    (tmp_path / "mine" / "qrels.txt").write_text("1 0 a 2\n1 0 c 1\n1 0 gone 1\n2 0 b 1\n2 0 d 0\n")
    assert run_cli("index", "mine")[0] == 0
    return tmp_path


def test_all_features_are_listed_with_stream_source_and_formula(run_cli):
    code, out, _ = run_cli("features", "--list")
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("letor.title.idf ")]
    assert line.split(None, 2)[1] == "title"
    assert "LETOR 3.0" in line
    assert "ln(N/df)" in line
    assert len(run_cli("features", "--list", "--features", "table1")[1].splitlines()) == 7


def test_the_help_names_every_feature_set(run_cli):
    text = re.sub(r"-\n +", "-", run_cli("features", "--help")[1])
    assert [name for name in FEATURE_SETS if name not in text] == []


def test_features_of_judged_documents_are_written(collection, run_cli):
    code, out, err = run_cli("features", "-o", "letor.txt")
    assert (code, out) == (0, "")
    assert "4 rows of 45 features for 2 topics → letor.txt" in err
    assert "1 of 5 candidates are not in the index: gone (topic 1)" in err
    assert "1 topic without candidates: 3" in err
    table = searchlab.read_letor(collection / "letor.txt")
    assert table.names == FEATURE_SETS["letor45"]
    assert list(zip(table.qids, table.docnos, table.grades, strict=True)) == [
        ("1", "a", 2),
        ("1", "c", 1),
        ("2", "b", 1),
        ("2", "d", 0),
    ]
    assert table.column("letor.body.tf").tolist() == [2, 1, 2, 0]  # by hand: heat flow; heat; lift wings; nothing


def test_candidates_of_a_search_and_of_a_run_are_the_same(collection, run_cli):
    run_cli("run", "-k", "2", "-o", "two.run")
    for candidates in (["-k", "2"], ["--run", "two.run"]):
        run_cli("features", *candidates, "--features", "table1", "-o", "f.txt")
        table = searchlab.read_letor(collection / "f.txt")
        assert sorted(zip(table.qids, table.docnos, strict=True)) == [("1", "a"), ("1", "c"), ("2", "b"), ("2", "d")]
    run_cli("features", "-k", "1", "--union", "--unjudged", "drop", "--features", "table1", "-o", "f.txt")
    table = searchlab.read_letor(collection / "f.txt")
    assert set(zip(table.qids, table.docnos, strict=True)) == {("1", "a"), ("1", "c"), ("2", "b"), ("2", "d")}


def test_values_are_filled_and_normalised(collection, run_cli):
    run_cli("features", "--impute", "query-minimum", "--normalise", "query-minmax", "-o", "f.txt")
    table = searchlab.read_letor(collection / "f.txt")
    assert table.values.min() == 0
    assert table.values.max() == 1


def test_the_semantic_space_is_made_when_it_is_needed(collection, run_cli):
    code, _, err = run_cli("features", "--features", "semantic", "-o", "f.txt")
    assert code == 0
    assert "4 rows of 54 features" in err
    assert run_cli("semantic", "--update")[0] == 0


def test_the_topic_model_is_learnt_when_it_is_needed(collection, run_cli):
    code, _, err = run_cli("features", "--features", "topics", "-o", "f.txt")
    assert code == 0
    assert f"4 rows of {len(FEATURE_SETS['topics'])} features" in err
    assert run_cli("topic-model")[1].count("\n") == 21


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("--features letor54", 2, "unknown feature set 'letor54' (did you mean letor45?)"),
        ("--strict", 2, "1 of 5 candidates are not in the index: gone (topic 1)"),
        ("--impute maximum", 2, "unknown"),
        ("--normalise minmax", 2, "unknown"),
        ("--unjudged keep", 2, "unknown way with unjudged documents 'keep'"),
        ("--run nowhere.run", 1, "nowhere.run"),
        ("--topics mine/topics.tsv", 2, "no candidates: expected --qrels, --run or -k"),
        ("--topics mine/topics.tsv -k 2 --union", 2, "--union adds the judged documents: expected --qrels"),
    ],
)
def test_a_mistake_ends_in_one_line_and_leaves_no_file(collection, run_cli, arguments, code, message):
    found, out, err = run_cli("features", *arguments.split(), "-o", "f.txt")
    assert (found, out) == (code, "")
    assert message in err.splitlines()[-1]
    assert not (collection / "f.txt").exists()


def test_judgments_by_the_order_of_topics_are_named(collection, run_cli):
    (collection / "numbered.qry").write_text(".I 001\n.W\nalpha\n.I 004\n.W\nbeta\n")
    (collection / "ordered.txt").write_text("1 0 d1 1\n2 0 d2 1\n")
    files = ("--topics", "numbered.qry", "--qrels", "ordered.txt", "--features", "table1", "-k", "5", "-o", "f.txt")
    warning = "2 of 2 judged topics not among the topics; likely cause: these are numbers by the order of the topics"
    assert warning in run_cli("features", *files)[2]
    assert warning not in run_cli("features", *files, "--topic-ids", "ordinal")[2]
