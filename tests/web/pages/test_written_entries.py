"""What was written in a form is kept by every page of an error; and what a form may hold is accepted."""

import re

import pytest

from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.web.api.judging import judge
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import LARGE_PATHS
from searchlab.web.pages.rendering import WEB_FOLDER
from searchlab.web.pages.written_entries import WRITTEN_FIELDS, written_entries
from searchlab.web.routes.routing import ENDPOINTS, FORMS
from tests.web.pages.judging_client import send

# The bytes of a character, at most: in a form (four of UTF-8, each as %XX), and escaped in JSON (\\uXXXX).
FORM_BYTES, JSON_BYTES = 12, 6
# Addresses to return to, tokens, names of fields.
OTHER_BYTES = 50_000
FORM = re.compile(r'<form[^>]* method="post"[^>]* action="(/[a-z/-]*)".*?</form>', re.DOTALL)
WRITTEN_IN = re.compile(r'<textarea[^>]* name="(\w+)"|<input(?![^>]* type=)[^>]* name="(\w+)"')


def test_all_fields_that_are_written_in_are_kept():
    found = {}
    for path in sorted((WEB_FOLDER / "templates").glob("*.html")):
        for form in FORM.finditer(path.read_text()):
            for match in WRITTEN_IN.finditer(form.group()):
                found.setdefault(form.group(1), set()).add(match[1] or match[2])
    assert len(found) > 5
    assert {path: fields - set(WRITTEN_FIELDS.get(path, ())) for path, fields in found.items() if path} == {
        path: set() for path in found
    }


def test_entries_are_kept_with_their_labels_and_within_bounds():
    fields = {"text": "a" * 30_000, "criteria": " ", "csrf": "secret", "note": "of another form"}
    (entry,) = written_entries("/topic/edit", fields)
    assert (entry["name"], entry["label"], len(entry["text"])) == ("text", "What a searcher wants to know", 20_000)
    assert written_entries("/cancel", fields) == []


@pytest.mark.parametrize("status", [500, 503])
def test_a_failure_of_the_server_loses_nothing(client, monkeypatch, status):
    def fail(*arguments, **values):
        raise HttpError(503, "busy") if status == 503 else RuntimeError("broken")

    monkeypatch.setattr(JudgmentStore, "judge", fail)
    monkeypatch.setattr(judge, "grade_documents", fail)
    sent = {"q": "lymphoma", "docno": "d1", "grade": "1", "note": "first <b>line</b>\nsecond"}
    answer = send(client, "/judge", status, **sent)
    assert "first &lt;b&gt;line&lt;/b&gt;\nsecond</textarea>" in answer


def longest(parameter: Parameter, bytes_each: int) -> int:
    n = parameter.max_items if parameter.kind in ("strings", "records") else 1
    if parameter.kind == "records":
        return n * sum(longest(field, bytes_each) + 20 for field in parameter.fields)
    if parameter.kind not in ("string", "strings"):
        return 30
    of_choices = max(map(len, parameter.choices)) if parameter.choices else parameter.max_length
    return n * (bytes_each * of_choices + 4 + len(parameter.name))


WRITES = [
    *((form.path, form.parameters, FORM_BYTES) for form in FORMS),
    *((each.path, each.parameters, JSON_BYTES) for each in ENDPOINTS if each.method == "POST" and not each.takes_file),
]


@pytest.mark.parametrize(("path", "parameters", "bytes_each"), WRITES)
def test_what_the_fields_allow_fits_into_a_body(path, parameters, bytes_each):
    if path.startswith("/api/import"):
        pytest.skip("its files are bounded by the body itself")
    limits = Limits()
    allowed = limits.max_import_bytes if path in LARGE_PATHS else limits.max_body_bytes
    assert sum(longest(parameter, bytes_each) for parameter in parameters) + OTHER_BYTES <= allowed
