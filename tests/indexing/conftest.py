"""Events that happen to an index while it is read."""

import pytest

from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.records import Document


@pytest.fixture
def rebuild_during_opening(build, monkeypatch):
    """Let an index be rebuilt, with one document, right after a module has read its manifest for the first time."""

    def rebuild(module, folder):
        calls = []

        def read_and_rebuild(where):
            manifest = read_index_manifest(where)
            if not calls:
                calls.append(where)
                build([Document("new", "", "words")], folder=folder)
            return manifest

        monkeypatch.setattr(module, "read_index_manifest", read_and_rebuild)

    return rebuild
