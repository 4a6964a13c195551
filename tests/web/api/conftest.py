import shutil

import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.judgments.judgment_store import judgments_file
from searchlab.rankers.model_store.model_files import models_folder
from searchlab.web.limits import Limits
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import make_app_state, title_documents
from tests.web.search_client import DOCUMENTS, client_for


@pytest.fixture(scope="session")
def search_folder(build, tmp_path_factory):
    """The index of `DOCUMENTS`."""
    return build(DOCUMENTS, settings=AnalysisSettings(), folder=tmp_path_factory.mktemp("api") / "it")


@pytest.fixture(scope="module")
def engine(search_folder):
    return searchlab.open(search_folder)


@pytest.fixture(scope="module")
def client(search_folder):
    with client_for(search_folder, limits=Limits(max_rank=50)) as client:
        yield client


@pytest.fixture(scope="module")
def folder(build):
    """The index of `title_documents`."""
    return build(title_documents())


@pytest.fixture
def app_state(folder, tmp_path):
    """An application without judgments, models and reports."""
    made = make_app_state(folder, reports_folder=tmp_path)
    yield made
    made.close()
    for path in folder.parent.glob(f"{judgments_file(folder).name}*"):
        path.unlink()
    shutil.rmtree(models_folder(folder), ignore_errors=True)


@pytest.fixture
def state(app_state):
    return RequestState(app_state)
