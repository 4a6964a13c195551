import io
import json
import os
import re
from pathlib import Path

import pytest

import searchlab
from searchlab.indexing.storage.layout import MANIFEST


def test_index_prints_a_summary(tmp_path, run_cli, docs):
    (tmp_path / "small.jsonl").write_text(docs)
    code, out, err = run_cli("index", "small.jsonl")
    assert (code, err) == (0, "")
    first, pace, size = out.splitlines()
    assert first == "indexes/small: 3 documents"
    # By hand: t cell lymphoma lymphoma t cell; cell prison; wing heat flow wing.
    assert re.fullmatch(r"  \d+\.\d s \([\d,]+/s\), 12 tokens", pace)
    assert re.fullmatch(r"  0\.0 MB in 1 shard", size)


@pytest.mark.parametrize("rule", ["keep-first", "keep-last"])
def test_index_counts_what_it_left_out(tmp_path, run_cli, docs, rule):
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "a.jsonl").write_text(docs + docs)
    (tmp_path / "mixed" / "b.bin").write_bytes(b"\0\1\2")
    code, out, err = run_cli("index", "mixed", "--on-duplicate", rule)
    assert code == 0
    assert err.splitlines() == ["skipped mixed/b.bin: binary content"]
    assert out.startswith("indexes/mixed: 3 documents (3 duplicates left out)\n")


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


def test_help_and_version_are_printed(run_cli):
    assert run_cli("--version") == (0, f"searchlab {searchlab.__version__}\n", "")
    for arguments in (["--help"], ["index", "--help"], ["query", "--help"], ["run", "--help"]):
        code, out, err = run_cli(*arguments)
        assert (code, err) == (0, "")
        assert out.lstrip().startswith("Usage: ")


def test_without_any_argument_the_help_is_printed_as_it_is(run_cli):
    code, out, err = run_cli()
    assert code in (0, 2)
    assert (out + err).lstrip().startswith("Usage: ")
    assert (out + err).count("\n") > 5


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


def test_indexing_again_updates(here, run_cli, docs):
    first, second, _ = docs.splitlines()
    (here / "small.jsonl").write_text(
        f'{first.replace("1999", "2001")}\n{second}\n{{"docno": "new", "title": "Cells"}}\n'
    )
    code, out, _ = run_cli("index", "small.jsonl")
    assert code == 0
    assert out.startswith("indexes/small: 4 documents (1 added, 1 updated, 1 unchanged)\n")
    _, out, _ = run_cli("index", "small.jsonl", "--prune")
    assert out.startswith("indexes/small: 3 documents (3 unchanged, 1 removed)\n")
    assert run_cli("query", "wings")[0] == 1


def test_bad_records_are_named_and_left_out(tmp_path, run_cli, docs):
    (tmp_path / "some.jsonl").write_text(docs + '{"docno": \n' * 12)
    code, out, err = run_cli("index", "some.jsonl")
    assert (code, out.splitlines()[0]) == (0, "indexes/some: 3 documents")
    lines = err.splitlines()
    assert lines[0].startswith("bad record some.jsonl:4: ")
    assert lines[10:] == ["12 bad records left out; --strict stops at the first"]


def test_deleting_and_merging(here, run_cli, monkeypatch):
    code, out, _ = run_cli("delete", "med-1")
    assert code == 0
    assert out.startswith("indexes/small: 2 documents (1 removed)\n")
    assert "1 shard, with 1 deleted document\n" in out
    assert run_cli("query", "lymphoma")[0] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("med-2\n\n"))
    assert run_cli("delete", "-")[1].startswith("indexes/small: 1 document (1 removed)\n")
    _, out, _ = run_cli("merge")
    assert out.startswith("indexes/small: 1 document\n")
    assert "deleted" not in out


def test_stats_count_by_hand(here, run_cli):
    run_cli("delete", "aero")
    code, out, err = run_cli("stats", "--top", "2")
    assert (code, err) == (0, "index: indexes/small\n")
    rows = [line.split() for line in out.splitlines()]
    # By hand: t cell lymphoma, lymphoma t cell; nothing, cell prison.
    assert ["title", "1", "3", "3", "1.5", "3"] in rows
    assert ["body", "2", "5", "4", "2.5", "3"] in rows
    assert ["both", "2", "8", "4", "4.0", "6"] in rows
    assert ["year", "1"] in rows
    assert ["cell", "2", "3"] in rows
    assert ["lymphoma", "1", "2"] in rows
    (shard,) = [row for row in rows if row and row[0].startswith("shard-")]
    assert shard[1:3] == ["2", "1"]


def test_stats_as_json(here, run_cli):
    record = json.loads(run_cli("stats", "--json")[1])
    assert (record["n_docs"], record["n_deleted"], record["streams"]["both"]["n_tokens"]) == (3, 0, 12)
    assert record["sources"] == [str(here / "small.jsonl")]


def test_the_doctor_finds_health_and_illness(here, run_cli):
    code, out, _ = run_cli("doctor")
    assert (code, out) == (0, "indexes/small: healthy; 3 documents in 1 shard examined\n")
    (path,) = here.glob("indexes/small/shard-*/columns")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    code, out, err = run_cli("doctor")
    assert code == 1
    assert f"{path.parent.name}/columns: not what was written" in out
    assert "--rebuild" in out
    assert err.endswith("indexes/small: 1 problem found\n")


def test_run_finds_the_topics_of_the_collection(tmp_path, run_cli, docs):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "docs.jsonl").write_text(docs)
    (tmp_path / "mine" / "topics.tsv").write_text("1\tlymphoma\n")
    (tmp_path / "mine" / "qrels.txt").write_text("1 0 med-1 1\n")
    _, _, err = run_cli("index", "mine")
    assert err == "mine is a collection: topics topics.tsv, judgments qrels.txt; `searchlab run` finds them\n"
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


def test_help_lists_every_command_in_the_order_in_which_one_needs_them(run_cli):
    from searchlab.cli.app import ORDER

    _, out, _ = run_cli("--help")
    listed = [line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line[:3].strip()]
    assert tuple(listed) == ORDER
