import pytest

from searchlab.web.middleware import auth
from tests.web.middleware.guarded_app import TOKEN, client_of, make


@pytest.fixture
def client():
    return client_of(make())


@pytest.fixture
def token_client(monkeypatch):
    """A client of a server with a token, which answers to a wrong one without delay."""
    monkeypatch.setattr(auth, "WRONG_TOKEN_SECONDS", 0.0)
    return client_of(make(TOKEN, loopback=False), "http://searcher.example:8000")
