"""What is served is verified in the background, and damage is logged."""

import numpy as np
import pytest

from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.features.latent_semantics.space_record import FOLDER
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.indexing.storage.arrays.block_checksums import VerifiedBlocks
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.model_store.model_files import models_folder
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.records import Document
from searchlab.web.state import open_index as open_index_module
from searchlab.web.state import verification
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.state.verification import verify_in_background

FEATURES = ["semantic.both.query_50"]


@pytest.fixture
def folder(build, tmp_path):
    """An index with a semantic space of several blocks of vectors, and a model that needs it."""
    documents = [Document(f"d{number}", "", "alpha beta") for number in range(100)]
    folder = build(documents, folder=tmp_path / "it")
    build_space(folder, dims=50)
    models_folder(folder).mkdir()
    model = Bundle("rsvm", {}, LinearModel(np.ones(1)), FEATURES, Preprocessor.named())
    model.save(models_folder(folder) / "semantic.json")
    return folder


@pytest.fixture
def verified(monkeypatch):
    """The threads that verify models."""
    monkeypatch.setattr(verification, "VERIFY_PAUSE_SECONDS", 0)
    threads = []
    monkeypatch.setattr(
        open_index_module, "verify_in_background", lambda opened: threads.append(verify_in_background(opened))
    )
    return threads


def test_the_semantic_space_of_a_model_in_use_is_verified(folder, verified, monkeypatch):
    complete = set()
    verify_all = VerifiedBlocks.verify_all

    def record(blocks, pause):
        verify_all(blocks, pause)
        complete.add(blocks.path)

    monkeypatch.setattr(VerifiedBlocks, "verify_all", record)
    index = OpenIndexes([folder]).get()
    assert index.usable_models
    assert not verified  # none is in use yet
    system = index.system("model:semantic")
    assert index.system("model:semantic") is system
    [thread] = verified
    thread.join()
    files = {path for path in (folder / FOLDER).iterdir() if "-" in path.name}
    assert len(files) == 2  # of terms, and of the vectors of one shard
    assert files <= complete


def test_damage_of_a_semantic_space_is_logged(folder, verified, caplog):
    path = max((folder / FOLDER).glob("vectors-*"), key=lambda path: path.stat().st_size)
    index = OpenIndexes([folder]).get()
    content = bytearray(path.read_bytes())
    content[-200] ^= 4  # in the last vector; opening reads the first block alone
    path.write_bytes(content)
    _ = index.system("model:semantic")
    [thread] = verified
    thread.join()
    assert f"{path}: damaged" in caplog.text
