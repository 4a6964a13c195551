import json
import shutil
from urllib.request import Request, urlopen

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from tests.web.pages.judging_client import DOCUMENTS
from tests.web.search_client import client_for


@pytest.fixture(scope="session")
def indexed_once(build, tmp_path_factory):
    return build(DOCUMENTS, settings=AnalysisSettings(), folder=tmp_path_factory.mktemp("judging") / "it")


@pytest.fixture
def folder(indexed_once, tmp_path):
    """The index, without any judgments."""
    return shutil.copytree(indexed_once, tmp_path / "it")


@pytest.fixture
def client(folder):
    with client_for(folder, follow_redirects=False) as client:
        yield client


@pytest.fixture
def store(folder):
    with JudgmentStore(judgments_file(folder)) as store:
        yield store


@pytest.fixture
def find(browser):
    """The first element of the page that a CSS selector names."""
    return lambda what: browser.find_element("css selector", what)


@pytest.fixture
def send(address):
    """Send JSON to the API; returns the answer."""

    def sent(path, **values):
        request = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.load(answer)

    return sent
