"""The option --rerank of query, run and explain."""

import json
import math
import re

import pytest

import searchlab
from tests.cli.commands.trained_models import MODELS, in_units, table_of


def read_run(path):
    return {ranking.qid: dict(zip(ranking.docnos, ranking.scores, strict=True)) for ranking in searchlab.read_run(path)}


def test_a_query_a_run_and_a_file_of_features_are_ranked_alike(collection, model, run_cli):
    assert run_cli("run", "--rerank", model, "-o", "ours.run")[0] == 0
    found = read_run("ours.run")
    record = json.loads(run_cli("query", "heat word1", "--rerank", model, "-k", 100, "--json")[1])
    assert record["model"] == model
    assert {hit["docno"]: hit["score"] for hit in record["hits"]} == pytest.approx(found["1"], rel=1e-12)
    assert run_cli("features", "--run", "ours.run", "--features", "table1", "-o", "f.txt")[0] == 0
    code, out, err = run_cli("rerank", model, "f.txt", "-o", "theirs.run", "--tag", "mine")
    assert (code, out) == (0, "")
    assert f"6 queries, {sum(map(len, found.values()))} results → theirs.run" in err
    again = read_run("theirs.run")
    assert again.keys() == found.keys()
    for qid, scores in found.items():
        assert again[qid] == pytest.approx(scores, abs=1e-9)
    assert (collection / "theirs.run").read_text().splitlines()[0].split()[-1] == "mine"


def test_a_run_of_the_topics_that_were_learnt_from_is_said_to_be_no_test(collection, model, run_cli):
    warning = "warning: the model was trained on these topics"
    assert warning in run_cli("run", "--rerank", model, "-o", "r.run")[2]
    (collection / "other.tsv").write_text("1\theat\n")
    assert warning not in run_cli("run", "--topics", "other.tsv", "--rerank", model, "-o", "r.run")[2]


def test_filters_narrow_what_is_ranked(collection, model, run_cli):
    with (collection / "mine" / "docs.jsonl").open("a") as file:
        file.write('{"docno": "new", "title": "", "body": "heat heat word1", "year": 1999}\n')
    run_cli("index", "mine")
    record = json.loads(run_cli("query", "heat", "--rerank", model, "--filter", "year=1999", "--json", "--explain")[1])
    assert [hit["docno"] for hit in record["hits"]] == ["new"]
    run_cli("run", "--rerank", model, "--filter", "year=1999", "-o", "r.run")
    assert {docno for scores in read_run("r.run").values() for docno in scores} == {"new"}


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_the_score_exactly_and_as_they_are_printed(collection, run_cli, train, name):
    train(name, "--features", "letor45")
    record = json.loads(run_cli("query", "heat word1", "--rerank", f"{name}.json", "--explain", "--json")[1])
    assert len(record["hits"]) == 10
    for hit in record["hits"]:
        assert math.fsum(part["amount"] for part in hit["explanation"]["parts"]) == pytest.approx(
            hit["score"], abs=1e-9
        )
    out = run_cli("query", "heat word1", "--rerank", f"{name}.json", "--explain", "-k", 1)[1]
    rows = table_of(out, "feature")
    *contributions, total = rows
    assert total == ["score", f"{record['hits'][0]['score']:.4f}"]
    others = [row for row in contributions if row[0].endswith(" others")]
    n_parts = len(record["hits"][0]["explanation"]["parts"])
    assert [row[0] for row in others] == ([f"{n_parts - 10} others"] if n_parts > 10 else [])
    slack = 0 if others else len(contributions)  # without others to take it, what rounding left stays
    assert abs(sum(in_units(row[-1]) for row in contributions) - in_units(total[-1])) <= slack


def test_the_neighbourhood_of_a_query_is_shown_first(collection, run_cli, train):
    train("rsvm-knn", "--features", "letor45")
    out = run_cli("query", "heat word1", "--rerank", "rsvm-knn.json", "--explain", "-k", 1)[1]
    first = table_of(out, "feature")[0]
    assert re.fullmatch(r"neighbourhood of training query [1-5]", first[0])
    assert re.fullmatch(r"has [12] of the 2 nearest training queries", first[1])
    assert first[-1] == "+0.0000"


def test_what_lies_beyond_the_candidates_is_listed_but_not_explained(collection, run_cli, train):
    train("few", "--set", "C=0.5", "-k", 3, "--no-rm3")
    record = json.loads(run_cli("query", "heat word1", "--rerank", "few.json", "--explain", "--json")[1])
    assert ["explanation" in hit for hit in record["hits"]] == [True] * 3 + [False] * (len(record["hits"]) - 3)
    assert len(record["hits"]) > 3
    docno = record["hits"][3]["docno"]
    code, _, err = run_cli("explain", "heat word1", docno, "--rerank", "few.json")
    assert code == 2
    assert f"{docno} is not among the 3 documents that are re-ranked for this query: the 3 best by bm25" in err


@pytest.mark.parametrize(
    "options", [["--scorer", "bm25"], ["--set", "k1=2"], ["--expand", "rm3"], ["--stream", "title"]]
)
@pytest.mark.parametrize("command", [["query", "heat"], ["run"], ["explain", "heat", "heat-0"]])
def test_a_model_determines_the_first_stage(collection, model, run_cli, command, options):
    code, out, err = run_cli(*command, "--rerank", model, *options)
    assert (code, out) == (2, "")
    assert f"{options[0]} with --rerank: the model determines the first stage" in err


def test_a_session_does_not_rerank(collection, model, run_cli):
    code, _, err = run_cli("query", "--rerank", model)
    assert code == 2
    assert "--rerank needs a query" in err


def test_an_index_that_does_not_fit_is_refused_with_the_difference(collection, model, run_cli):
    run_cli("index", "mine", "-i", "indexes/bare", "--stemmer", "none")
    for command in (["query", "heat"], ["run", "-o", "r.run"], ["explain", "heat", "heat-0"]):
        code, out, err = run_cli(*command, "--rerank", model, "-i", "bare")
        assert (code, out) == (2, "")
        assert "indexes/bare: its texts have stemmer none" in err
        assert "the model was trained on texts with stemmer porter" in err
    assert not (collection / "r.run").exists()


def test_a_model_of_strange_features_does_not_search_an_index(collection, run_cli):
    (collection / "t.txt").write_text("0 qid:1 1:1 #docid = a\n1 qid:1 1:2 #docid = b\n")
    run_cli("train", "t.txt", "--ranker", "linear", "--folds", 0, "-o", "m.json")
    code, _, err = run_cli("query", "heat", "--rerank", "m.json")
    assert code == 2
    assert "the model needs feature f1, which searchlab does not compute from an index" in err


@pytest.mark.parametrize(("features", "artefact"), [("semantic", "semantic"), ("topics", "topics")])
def test_what_an_index_lacks_is_made_by_the_first_use_of_a_model(collection, run_cli, train, features, artefact):
    train("model", "--features", features, "--set", "C=0.5")
    expected = run_cli("query", "heat", "--rerank", "model.json")[:2]
    assert expected[0] == 0
    run_cli("index", "mine", "-i", "indexes/fresh")
    folder = collection / "indexes" / "fresh" / artefact
    assert not folder.exists()
    assert run_cli("query", "heat", "--rerank", "model.json", "-i", "fresh")[:2] == expected
    assert folder.is_dir()
