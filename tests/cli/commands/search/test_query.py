import json
import os
import re
from pathlib import Path

import pytest

import searchlab
from searchlab.indexing.storage.layout import MANIFEST


def test_query_prints_rank_score_docno_title_and_marked_words(here, run_cli):
    code, out, err = run_cli("query", "lymphoma cells")
    assert code == 0
    lines = out.splitlines()
    assert re.fullmatch(r"  1 +\d\.\d{4}  med-1  T-\*cell\* \*lymphoma\*", lines[0])
    assert lines[1] == "     *Lymphomas* of T *cells*."
    assert re.fullmatch(r"  2 +\d\.\d{4}  med-2  \(no title\)", lines[2])
    assert lines[3] == "     The *cell* of a prison."
    assert len(lines) == 4
    assert re.search(r"^2 results from 3 documents in \d+\.\d ms$", err, re.MULTILINE)


def test_query_takes_scorer_settings_stream_and_k(here, run_cli):
    code, out, _ = run_cli(
        "query", "cell", "-k", "1", "--scorer", "dirichlet", "--set", "mu=2", "--stream", "title", "--json"
    )
    (hit,) = json.loads(out)["hits"]
    engine = searchlab.open(here / "indexes" / "small")
    expected = engine.search("cell", k=1, scorer=searchlab.Dirichlet(2), stream="title")
    assert (code, hit["docno"], hit["score"]) == (0, "med-1", expected.scores[0])


def test_query_prints_json_that_parses(here, run_cli):
    code, out, _ = run_cli("query", "Lymphoma cell cell unheard", "--json")
    record = json.loads(out)
    assert code == 0
    assert record["terms"] == {"lymphoma": 1, "cell": 2}
    assert record["unknown"] == ["unheard"]
    assert (record["index"], record["scorer"]) == ("indexes/small", "bm25")
    first = record["hits"][0]
    assert (first["rank"], first["docno"], first["title"]) == (1, "med-1", "T-cell lymphoma")
    assert first["fields"] == {"year": 1999}
    assert [first["snippet"][start:end] for start, end in first["marks"]] == ["Lymphomas", "cells"]


def test_words_that_no_document_has_are_told(here, run_cli):
    code, out, err = run_cli("query", "wing unheard")
    assert (code, out.count("\n")) == (0, 2)
    assert "not in the index: unheard\n" in err


ONLY_STOP_WORDS = "no results: the query has only stop words or signs; add a word that says what it is about"
UNKNOWN = "no results: none of its words occurs in the index (unheard)"


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize(
    ("query", "message"),
    [("the of and", ONLY_STOP_WORDS), ("", ONLY_STOP_WORDS), ("unheard", UNKNOWN)],
    ids=["stop words", "empty", "unknown"],
)
def test_a_query_that_finds_nothing_says_why_and_exits_with_1(here, run_cli, query, message, options):
    code, out, err = run_cli("query", query, *options)
    assert (code, err.splitlines()[-1]) == (1, message)
    assert out == "" if not options else json.loads(out)["hits"] == []


def test_the_newest_index_is_taken_by_default_and_named(here, run_cli):
    assert run_cli("query", "wing")[2].splitlines()[0] == "index: indexes/small"
    run_cli("index", "small.jsonl", "-i", "indexes/other")
    os.utime(here / "indexes" / "small" / MANIFEST, (1, 1))
    first = run_cli("query", "wing")[2].splitlines()[0]
    assert first == "index: indexes/other (the newest of 2; -i names another)"


@pytest.mark.parametrize("name", ["small", "indexes/small"])
def test_an_index_is_named_by_its_folder_or_its_name(here, run_cli, name):
    code, out, err = run_cli("query", "wing", "-i", name)
    assert (code, "aero" in out, "index:" in err) == (0, True, False)


def test_run_writes_a_trec_run(here, run_cli):
    code, out, err = run_cli("run", "topics.tsv", "--tag", "mine")
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
    code, out, err = run_cli("run", "topics.tsv", "-o", "run.txt", "-k", "1", "--scorer", "jm")
    assert (code, out) == (0, "")
    assert [line.split()[2:6:3] for line in Path("run.txt").read_text().splitlines()] == [
        ["med-1", "jm"],
        ["aero", "jm"],
    ]
    assert "3 topics, 2 results → run.txt" in err


def test_run_leaves_the_file_as_it_was_if_it_fails(here, run_cli):
    Path("run.txt").write_text("old")
    before = sorted(path.name for path in here.iterdir())
    assert run_cli("run", "topics.tsv", "-o", "run.txt", "-k", "0")[0] == 2
    assert Path("run.txt").read_text() == "old"
    assert sorted(path.name for path in here.iterdir()) == before


def test_explain_shows_parts_that_add_up_to_the_score(here, run_cli):
    code, out, _ = run_cli("query", "lymphoma cell", "--explain", "--json")
    assert code == 0
    hits = json.loads(out)["hits"]
    assert hits
    for hit in hits:
        assert sum(part["weight"] for part in hit["explanation"]) == pytest.approx(hit["score"], abs=1e-9)
    code, out, _ = run_cli("query", "lymphoma cell", "--explain", "-k", "1")
    *_, last = [line.split() for line in out.splitlines() if line.strip()]
    assert last == ["score", f"{hits[0]['score']:.4f}"]


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


def test_a_structured_query_is_matched_and_a_malformed_one_is_plain(here, run_cli):
    _, out, _ = run_cli("query", 'cell -prison "t cells"')
    assert [line.split()[2] for line in out.splitlines()[::2]] == ["med-1"]
    _, out, err = run_cli("query", '"prison cell')
    assert out.splitlines()[0].split()[2] == "med-2"
    assert "searched for the plain words" in err
    _, out, err = run_cli("query", '"prison cell', "--plain")
    assert "plain words" not in err


def test_a_filter_restricts(here, run_cli):
    _, out, _ = run_cli("query", "cell", "--filter", "year=[1998 TO 2000]")
    assert [line.split()[2] for line in out.splitlines()[::2]] == ["med-1"]


def test_an_unknown_word_gets_a_suggestion(here, run_cli):
    code, _, err = run_cli("query", "lymphomma")
    assert code == 1
    assert "did you mean: lymphoma?" in err


def test_expansion_finds_what_the_query_does_not_say(here, run_cli):
    _, out, _ = run_cli("query", "lymphoma", "--expand", "rm3:documents=1,terms=5", "--json")
    assert {hit["docno"] for hit in json.loads(out)["hits"]} == {"med-1", "med-2"}
