"""Clients of an application in the same process, and documents to search."""

from starlette.testclient import TestClient

from searchlab.records import Document
from searchlab.web.app import make_app
from searchlab.web.middleware.access_tokens import parse_tokens
from searchlab.web.middleware.security import SecuritySettings
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> \"'> </p></main> "
    "{{ 7*7 }} {% raw %} \u202egnp &amp; lymphoma"
)
DOCUMENTS = [
    Document("d1", "Lymphoma of T cells", "Lymphomas of T cells in mice. " * 3, {"year": 1988, "journal": "Lancet"}),
    Document("d2", "Cells", "Cells divide, and cells die.", {"year": 1990}),
    Document("d3", "", "Mice with a lymphoma, fed on cells.", {"year": 1990, "note": HOSTILE}),
    Document("d4/../&x=<b>", HOSTILE, HOSTILE),
    *(Document(f"w{number:02}", "Wings", f"Heat flow over wings {number}.") for number in range(25)),
]


def client_of(app_state, tokens=(), **options):
    """A client of an application with this state."""
    secret = b"s" * 32
    security = SecuritySettings(parse_tokens(tokens, secret), True, secret=secret)
    return TestClient(make_app(app_state, security), base_url="http://127.0.0.1", **options)


def client_for(*folders, limits=None, **options):
    """A client of an application that serves these indexes."""
    settings = {} if limits is None else {"limits": limits}
    return client_of(AppState(OpenIndexes(folders), **settings), **options)


def get_json(client, path, status=200, **parameters):
    """The JSON of a response, whose status is checked."""
    answer = client.get(path, params=parameters)
    assert answer.headers["content-type"] == "application/json"
    assert answer.status_code == status, answer.text
    return answer.json()
