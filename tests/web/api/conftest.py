import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.web.limits import Limits
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
