"""`searchlab model use` chooses the default ranker, which `query` and `run` use on request."""

import json

import pytest

from searchlab.rankers.model_store.default_ranker import read_default_ranker
from tests.rankers.model_store.three_documents import DOCUMENTS


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "it")


def test_a_scorer_is_chosen_printed_used_and_removed(run_cli, folder):
    def run(*arguments):
        code, out, err = run_cli(*map(str, arguments))
        assert code == 0, err
        return out, err

    assert run("model", "use", "-i", folder)[0].strip() == f"{folder}: BM25, none was chosen"
    assert "ranked by bm25+rm3 from now on" in run("model", "use", "bm25+rm3", "-i", folder)[0]
    assert read_default_ranker(folder).system == "bm25+rm3"
    out, err = run("query", "alpha", "-i", folder, "--rerank", "default", "--json")
    assert "ranked by bm25+rm3, the default ranker of it" in err
    record = json.loads(out)
    expanded = json.loads(run("query", "alpha", "-i", folder, "--expand", "rm3", "--json")[0])
    assert record["scorer"] == "bm25+rm3"
    assert [hit["score"] for hit in record["hits"]] == [hit["score"] for hit in expanded["hits"]]
    assert "default ranker bm25+rm3" in run("stats", "-i", folder)[0]
    assert "searched by BM25" in run("model", "use", "--remove", "-i", folder)[0]
    assert read_default_ranker(folder) is None


def test_without_a_choice_it_is_said_how_to_make_one(run_cli, folder, tmp_path):
    (tmp_path / "topics.tsv").write_text("1\talpha\n")
    for command in (("query", "alpha"), ("run", "--topics", tmp_path / "topics.tsv", "-o", tmp_path / "a.run")):
        code, _, err = run_cli(*map(str, command), "-i", str(folder), "--rerank", "default")
        assert code == 2
        assert "no default ranker was chosen; `searchlab model use NAME" in err
    assert not (tmp_path / "a.run").exists()


@pytest.mark.parametrize("name", ["nonsense", "model:none", "bm25:k1=high"])
def test_an_unknown_ranker_is_refused_and_nothing_written(run_cli, folder, name):
    code, _, err = run_cli("model", "use", name, "-i", str(folder))
    assert (code, len(err.splitlines())) == (2, 1)
    assert read_default_ranker(folder) is None
    assert run_cli("model", "use", name, "--remove", "-i", str(folder))[0] == 2
