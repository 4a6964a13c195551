"""Searching from the command line computes each step once, whatever is shown of it."""

import json
import shutil
from io import StringIO

import pytest

import searchlab

SUBJECTS = ["heat", "wing", "cell", "prison"]
TOPICS = [f"{subject} word1" for subject in SUBJECTS]
# Features of every kind that searches again: the score of RM3, and centroids of the best documents by BM25 and RM3.
FEATURES = ["letor.both.bm25", "score.both.rm3", "query.both.clarity", "semantic.both.bm25_50", "semantic.both.rm3_50"]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A collection of four judged topics, indexed once, and feature sets that search again."""
    home = tmp_path_factory.mktemp("searches")
    (home / "mine").mkdir()
    documents, qrels = [], []
    for number, subject in enumerate(SUBJECTS):
        other = SUBJECTS[(number + 1) % len(SUBJECTS)]
        for place, (n, filler, grade) in enumerate([(4, 3, 2), (3, 9, 2), (2, 9, 1), (1, 4, 0), (1, 15, 0)]):
            words = [subject] * n + [f"word{(number * 7 + place + step) % 23}" for step in range(filler)] + [other]
            documents.append({"docno": f"{subject}-{place}", "title": subject, "body": " ".join(words), "year": place})
            qrels.append(f"{number + 1} 0 {subject}-{place} {grade}\n")
    (home / "mine" / "docs.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (home / "mine" / "topics.tsv").write_text("".join(f"{n + 1}\t{text}\n" for n, text in enumerate(TOPICS)))
    (home / "mine" / "qrels.txt").write_text("".join(qrels))
    (home / "again.toml").write_text(f"features = {json.dumps(FEATURES)}\n")
    searchlab.index(home / "mine", home / "indexes" / "mine", jobs=1)
    return home


@pytest.fixture
def collection(tmp_path, run_cli, made):
    """A working folder with the indexed collection."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def model(collection, run_cli):
    """A model with features that search again."""
    options = ["--features", "again.toml", "--set", "C=0.5", "--folds", 0, "-k", 4]
    code, _, err = run_cli("train", *options, "-o", "model.json")
    assert code == 0, err
    return "model.json"


def expect(work, searches, estimations, extractions=0):
    """At most this much work; at least some, or nothing would have been counted."""
    assert 0 < work["searches"] <= searches
    assert work["estimations"] <= estimations
    assert work["extractions"] <= extractions


@pytest.mark.parametrize("k", [2, 5, 100])
@pytest.mark.parametrize("shown", [(), ("--json",)])
def test_a_reranked_query_is_explained_from_two_searches_and_one_extraction(model, run_cli, work, k, shown):
    code, out, _ = run_cli("query", "heat word1", "--rerank", model, "--explain", "-k", k, *shown)
    assert code == 0
    assert "score.both.rm3" in out
    expect(work, searches=2, estimations=1, extractions=1)


@pytest.mark.parametrize("shown", [(), ("--json",)])
def test_an_expanded_query_is_explained_from_two_searches(collection, run_cli, work, shown):
    code, out, _ = run_cli("query", "heat", "--expand", "rm3", "--explain", *shown)
    assert code == 0
    assert ("query_count" if shown else "in query") in out
    expect(work, searches=2, estimations=1)


def test_a_query_is_explained_from_one_search(collection, run_cli, work):
    assert run_cli("query", "heat", "--explain")[0] == 0
    expect(work, searches=1, estimations=0)


def test_a_session_explains_and_goes_on_without_estimating_again(collection, run_cli, work, monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO("heat\n:explain 1\n:explain 2\n:next\n"))
    code, out, _ = run_cli("query", "--expand", "rm3", "-k", 3)
    assert code == 0
    assert out.count("in document") == 2
    # Options are tried by a search for nothing; then two searches for the query, and a deeper one.
    assert work["searches"] <= 1 + 3
    assert work["estimations"] <= 1 + 1


@pytest.mark.parametrize("k", [3, 1000])
def test_a_reranked_run_needs_two_searches_and_one_extraction_a_topic(model, run_cli, work, k):
    assert run_cli("run", "--rerank", model, "-k", k, "-o", "r.run")[0] == 0
    n = len(TOPICS)
    expect(work, searches=2 * n, estimations=n, extractions=n)


def test_an_expanded_run_needs_two_searches_a_topic(collection, run_cli, work):
    assert run_cli("run", "--expand", "rm3", "-o", "r.run")[0] == 0
    expect(work, searches=2 * len(TOPICS), estimations=len(TOPICS))


def test_the_explanation_of_a_model_needs_two_searches(model, run_cli, work):
    assert run_cli("explain", "heat word1", "heat-0", "heat-1", "--rerank", model)[0] == 0
    expect(work, searches=2, estimations=1, extractions=1)


@pytest.mark.parametrize("folds", [0, 2])
def test_training_needs_two_searches_and_one_extraction_a_topic(collection, run_cli, work, folds):
    options = ["--features", "again.toml", "--set", "C=0.5", "--folds", folds, "-k", 4]
    code, _, err = run_cli("train", *options, "-o", "model.json")
    assert code == 0, err
    n = len(TOPICS)
    expect(work, searches=2 * n, estimations=n, extractions=n)


def test_features_of_an_expanded_search_share_its_expansion(collection, run_cli, work):
    assert run_cli("features", "-k", 5, "--expand", "rm3", "--features", "again.toml", "-o", "f.txt")[0] == 0
    n = len(TOPICS)
    expect(work, searches=2 * n, estimations=n, extractions=n)


def test_features_of_another_scorer_are_still_those_of_bm25(collection, run_cli):
    options = ["--scorer", "dirichlet", "--expand", "rm3:terms=3"]
    assert run_cli("run", *options, "-k", 5, "-o", "d.run")[0] == 0
    assert run_cli("features", "-k", 5, *options, "--features", "again.toml", "-o", "searched.txt")[0] == 0
    assert run_cli("features", "--run", "d.run", "--features", "again.toml", "-o", "ranked.txt")[0] == 0
    assert (collection / "searched.txt").read_text() == (collection / "ranked.txt").read_text()
