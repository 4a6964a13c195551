"""Results are exported as files, which hold what the engine finds."""

import pytest

import searchlab
from searchlab.corpus.export.export_formats import EXPORT_FORMATS
from searchlab.web.api import export_results
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
    assert len(list(searchlab.read_documents(path))) == len(hits) == 4


def test_filters_and_k_restrict_what_is_exported(client):
    answer = client.get("/api/export/results", params={"q": "cells", "format": "ris", "filter": "year=1990", "k": 1})
    assert answer.text.count("\nER  - ") == 1
    assert "PY  - 1990" in answer.text


def test_what_cannot_be_exported_is_an_error(client, monkeypatch):
    def problem(**parameters):
        return get_json(client, "/api/export/results", 400, **parameters)["error"]

    assert problem(q="cells", format="xls") == "format is 'xls', expected one of ris, csv, bib, jsonl"
    assert problem(q="cells", format="ris", k=51) == "k is 51, expected at most 50"
    assert problem(q=" ", format="ris") == "q is empty, expected a query"
    monkeypatch.setattr(export_results, "MAX_LENGTH", 100)
    assert problem(q="cells", format="ris") == "the documents have more than 100 characters, expected a smaller k"
