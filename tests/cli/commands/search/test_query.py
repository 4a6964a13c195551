import json
import os
import re
import time

import pytest

import searchlab
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.retrieval.results import Hits


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
    assert [first["snippet"][start:end] for start, end in first["marks"]["snippet"]] == ["Lymphomas", "cells"]
    assert [first["title"][start:end] for start, end in first["marks"]["title"]] == ["cell", "lymphoma"]


def test_words_that_no_document_has_are_named(here, run_cli):
    code, out, err = run_cli("query", "wing unheard")
    assert (code, out.count("\n")) == (0, 2)
    assert "not in the index: unheard\n" in err


ONLY_STOP_WORDS = "no results: the query has only stop words or punctuation; add a word to search for"
UNKNOWN = "no results: none of the words occurs in the index (unheard)"


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


def test_query_explains_hits_by_parts_that_add_up_to_the_score(here, run_cli):
    code, out, _ = run_cli("query", "lymphoma cell", "--explain", "--json")
    assert code == 0
    hits = json.loads(out)["hits"]
    assert hits
    for hit in hits:
        assert sum(part["amount"] for part in hit["explanation"]["parts"]) == pytest.approx(hit["score"], abs=1e-9)
    code, out, _ = run_cli("query", "lymphoma cell", "--explain", "-k", "1")
    *_, last = [line.split() for line in out.splitlines() if line.strip()]
    assert last == ["score", f"{hits[0]['score']:.4f}"]


def test_a_structured_query_is_matched_and_a_malformed_one_is_plain(here, run_cli):
    _, out, _ = run_cli("query", 'cell -prison "t cells"')
    assert [line.split()[2] for line in out.splitlines()[::2]] == ["med-1"]
    _, out, err = run_cli("query", '"prison cell')
    assert out.splitlines()[0].split()[2] == "med-2"
    assert "searched for the plain words" in err
    _, out, err = run_cli("query", '"prison cell', "--syntax", "plain")
    assert "plain words" not in err


def test_words_without_quotes_are_one_query(here, run_cli):
    quoted = json.loads(run_cli("query", "prison cell", "--json")[1])
    code, out, _ = run_cli("query", "prison", "cell", "--json")
    assert code == 0
    record = json.loads(out)
    assert record["query"] == "prison cell"
    assert record["hits"] == quoted["hits"]


def test_an_unknown_syntax_is_refused_before_an_index_is_opened(tmp_path, run_cli):
    for command in (["query", "wing"], ["run"], ["explain", "wing", "aero"]):
        code, out, err = run_cli(*command, "--syntax", "lucene")
        assert (code, out) == (2, "")
        assert err == "searchlab: unknown query syntax 'lucene'; there is: full, plain\n"


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


FIELDED = [
    {"docno": "d1", "body": "cell", "year": 1990, "journal": "Lymph Nodes"},
    {"docno": "d2", "body": "cell cell", "year": 2001, "journal": "Blood"},
    {"docno": "d3", "body": "cell", "year": 1990, "journal": "Blood"},
    {"docno": "d4", "body": "wing"},
]


@pytest.fixture
def fielded(tmp_path, run_cli):
    """An index of documents with fields."""
    source = tmp_path / "fielded.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in FIELDED), encoding="utf-8")
    folder = tmp_path / "fielded"
    assert run_cli("index", source, "-i", folder)[0] == 0
    return folder


def test_sort_orders_all_matches_and_facets_count_them(fielded, run_cli):
    code, out, err = run_cli(
        "query", "cell", "-i", fielded, "-k", "1", "--sort", "year:desc", "--facet", "journal,year"
    )
    assert code == 0
    first, _, *facets = out.splitlines()
    assert re.fullmatch(r"  1 +\d\.\d{4}  d2  \(no title\)", first)
    assert facets == [
        *("", "journal: 2 values"),
        *("     Blood        2  ████████████████████", "     Lymph Nodes  1  ██████████"),
        *("", "year: 2 values"),
        *("     1990  2  ████████████████████", "     2001  1  ██████████"),
    ]
    assert re.search(r"^1 of 3 results from 4 documents in ", err, re.MULTILINE)


def test_json_has_facets_and_other_fields(fielded, run_cli):
    record = json.loads(run_cli("query", "lymph", "-i", fielded, "--facet", "year", "--json")[1])
    assert record["other_fields"] == [{"field": "journal", "n_docs": 1, "query": "journal:lymph"}]
    assert record["facets"] == {"year": {"values": [], "n_values": 0, "n_without": 0}}
    assert "facets" not in json.loads(run_cli("query", "cell", "-i", fielded, "--json")[1])


def test_words_of_other_fields_are_offered(fielded, run_cli):
    code, out, err = run_cli("query", "lymph", "-i", fielded)
    assert (code, out) == (1, "")
    assert "no results: none of the words occurs in a title or text (lymph)\n" in err
    assert "more in other fields: 1 document by journal:lymph\n" in err
    assert run_cli("query", "journal:lymph", "-i", fielded)[0] == 0


@pytest.mark.parametrize("option", ["--sort", "--facet"])
def test_an_unknown_field_to_sort_or_count_is_refused_in_one_line(fielded, run_cli, option):
    code, out, err = run_cli("query", "cell", "-i", fielded, option, "colour")
    assert (code, out) == (2, "")
    assert "unknown field 'colour'" in err.splitlines()[-1]


def test_the_time_is_what_the_user_waited(fielded, run_cli, monkeypatch):
    read = Hits.__iter__

    def read_slowly(hits):
        time.sleep(0.05)
        return read(hits)

    monkeypatch.setattr(Hits, "__iter__", read_slowly)
    milliseconds = float(re.search(r"in (\d+\.\d) ms", run_cli("query", "cell", "-i", fielded)[2])[1])
    assert milliseconds >= 50
    assert json.loads(run_cli("query", "cell", "-i", fielded, "--json")[1])["seconds"] >= 0.05


def test_query_exports_its_results_by_the_suffix_of_the_file(here, run_cli):
    code, _, err = run_cli("query", "lymphoma cells", "-k", "1", "--export", "out.ris")
    assert code == 0
    assert "1 record exported to out.ris; 1 more match, which a larger -k exports" in err.splitlines()
    [document] = searchlab.read_documents(here / "out.ris")
    assert document.docno == "med-1"
    assert run_cli("query", "lymphoma cells", "--export", "out.csv", "-q")[0] == 0
    assert [document.docno for document in searchlab.read_documents(here / "out.csv")] == ["med-1", "med-2"]


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["cells", "--export", "out.xls"], 2, "cannot export to 'out.xls', expected a name that ends in .ris, .csv"),
        (["cells", "--export", "no/out.ris"], 1, "no/out.ris: cannot be written (no such folder)"),
        (["--export", "out.ris"], 2, "--group-duplicates and --export need a query"),
    ],
)
def test_an_export_that_cannot_be_made_is_refused_before_the_search(here, run_cli, arguments, code, problem):
    found, out, err = run_cli("query", *arguments)
    assert (found, out) == (code, "")
    assert problem in err
    assert not list(here.glob("out.*"))


def test_several_words_need_no_quotes(fielded, run_cli):
    unquoted, quoted = run_cli("query", "wing", "cell", "-i", fielded), run_cli("query", "wing cell", "-i", fielded)
    assert unquoted[:2] == quoted[:2]
    assert unquoted[1].count("d4") == 1


@pytest.fixture
def copies(tmp_path, run_cli):
    """An index of two records of one publication, and another."""
    source = tmp_path / "copies.jsonl"
    records = [
        {"docno": "d1", "title": "Cell", "body": "cell", "doi": "10.1000/1"},
        {"docno": "d2", "title": "Cell", "body": "cell wall", "doi": "https://doi.org/10.1000/1"},
        {"docno": "d3", "title": "", "body": "cell wall and skin"},
    ]
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert run_cli("index", source, "-i", tmp_path / "copies")[0] == 0
    return tmp_path / "copies"


def test_duplicates_are_grouped_on_request(copies, run_cli):
    _, out, err = run_cli("query", "cell", "-i", copies, "--group-duplicates", "-k", "2", "--explain")
    assert re.findall(r"^ +(\d) +\d\.\d{4}  (d\d)", out, re.MULTILINE) == [("1", "d1"), ("2", "d3")]
    assert "     also: d2 (same DOI)\n" in out
    assert "2 of 3 results" in err
    assert len(run_cli("query", "cell", "-i", copies, "-k", "3")[1].split("(same DOI)")) == 1
    hits = json.loads(run_cli("query", "cell", "-i", copies, "--group-duplicates", "--json")[1])["hits"]
    assert [(hit["docno"], hit["rank"]) for hit in hits] == [("d1", 1), ("d3", 2)]
    assert [hit["duplicates"] for hit in hits] == [[{"docno": "d2", "title": "Cell", "reason": "same DOI"}], []]


def test_a_session_does_not_group_duplicates(copies, run_cli):
    code, _, err = run_cli("query", "-i", copies, "--group-duplicates")
    assert (code, "--group-duplicates and --export need a query" in err) == (2, True)
