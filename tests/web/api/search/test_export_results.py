"""Results are exported as files, which hold what the engine finds."""

import pytest

import searchlab
from searchlab.corpus.export.export_formats import EXPORT_FORMATS
from searchlab.web.api.search import export_results
from tests.web.search_client import get_json


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_results_are_a_file_to_save(client, engine, tmp_path, format):
    answer = client.get("/api/export/results", params={"q": "lymphoma cells", "format": format, "system": "dirichlet"})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="results.{format}"'
    assert answer.headers["content-type"] == f"{EXPORT_FORMATS[format].media_type}; charset=utf-8"
    hits = engine.search("lymphoma cells", scorer="dirichlet", k=None)
    assert answer.text == "".join(hits.exported(format))
    path = tmp_path / f"a.{format}"
    path.write_bytes(answer.content)
    n_read = searchlab.read_run(path).n_rows if format == "run" else len(list(searchlab.read_documents(path)))
    assert n_read == len(hits) == 4


def test_filters_and_k_restrict_what_is_exported(client):
    answer = client.get("/api/export/results", params={"q": "cells", "format": "ris", "filter": "year=1990", "k": 1})
    assert answer.text.count("\nER  - ") == 1
    assert "PY  - 1990" in answer.text


def test_selected_results_are_exported_in_their_order(client):
    def exported(*docnos, **more):
        answer = client.get("/api/export/results", params={"q": "cells", "format": "run", "docno": docnos} | more)
        assert answer.status_code == 200
        return [line.split()[2] for line in answer.text.splitlines()]

    every = exported()
    assert len(every) > 2
    assert exported(every[-1], every[0], every[0]) == [every[0], every[-1]]
    by_year = client.get("/api/search", params={"q": "cells", "sort": "year:desc"}).json()["hits"]
    assert exported(sort="year:desc") == [hit["docno"] for hit in by_year]
    problem = get_json(client, "/api/export/results", 400, q="cells", format="run", docno="w01")["error"]
    assert problem == "docno is 'w01', expected a docno among the results"


def test_what_cannot_be_exported_is_an_error(client, monkeypatch):
    def problem(**parameters):
        return get_json(client, "/api/export/results", 400, **parameters)["error"]

    assert problem(q="cells", format="xls") == "format is 'xls', expected one of ris, csv, bib, jsonl, run"
    assert problem(q="cells", format="ris", k=51) == "k is 51, expected at most 50"
    assert problem(q=" ", format="ris") == "q is empty, expected a query"
    monkeypatch.setattr(export_results, "MAX_LENGTH", 100)
    assert problem(q="cells", format="ris") == "the documents have more than 100 characters, expected a smaller k"
