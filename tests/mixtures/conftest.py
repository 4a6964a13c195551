"""An engine over the example collection."""

import pytest

from searchlab.retrieval.engine import SearchEngine
from tests.mixtures.example_collection import DOCS


@pytest.fixture(scope="module")
def engine(build):
    with SearchEngine(build(DOCS, words_per_shard=12)) as engine:
        yield engine
