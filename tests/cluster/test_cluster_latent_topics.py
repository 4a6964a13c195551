"""Semantic spaces and topic models that a cluster makes are those of one machine, to the last bit."""

import shutil

import numpy as np
import pytest

from searchlab.features.latent_semantics import truncated_svd
from searchlab.features.latent_semantics.semantic_space import build_space, update_space
from searchlab.indexing.blockwise import document_blocks
from searchlab.indexing.blockwise.document_blocks import divide_documents
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.topic_models.plsa import learn_in_blocks, learn_latent_topics
from searchlab.topic_models.topic_model_store import build_topic_model, update_topic_model


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    monkeypatch.setattr(document_blocks, "BLOCK_WORDS", 300)


@pytest.fixture
def copies(folder, tmp_path):
    """Two copies of an index, for one machine and for the cluster."""
    return [shutil.copytree(folder, tmp_path / name) for name in ("one", "many")]


def content_of(home):
    """The arrays of all files of an artefact, whose names are random."""
    content = {
        path.name.split("-", 2)[-1] if "vectors" in path.name else "terms": path.read_bytes()
        for path in home.iterdir()
        if path.name.startswith(("terms-", "vectors-"))
    }
    assert "terms" in content and len(content) > 1
    return content


def test_documents_are_in_several_blocks_and_shards(folder):
    snapshot = Snapshot(folder)
    blocks = divide_documents(snapshot)
    assert len(blocks) > 3 and len(snapshot.shards) > 3
    listed = [
        snapshot.shards[shard].columns.docnos[doc]
        for block in blocks
        for shard, doc in zip(block.shards.tolist(), block.docs.tolist(), strict=True)
    ]
    assert listed == sorted(snapshot.docnos())


@pytest.mark.parametrize("is_exact", [True, False])
def test_a_semantic_space_is_that_of_one_machine(copies, cluster, monkeypatch, is_exact):
    if not is_exact:
        # As in an index of a larger vocabulary, which is decomposed by the Krylov space.
        monkeypatch.setattr(truncated_svd, "MIN_SIZE", 6)
        monkeypatch.setattr(truncated_svd, "BLOCK", 2)
    one, many = copies
    calls = []
    build_space(one, dims=1 if not is_exact else 5)
    build_space(many, dims=1 if not is_exact else 5, cluster=cluster, progress=lambda *call: calls.append(call))
    assert content_of(one / "semantic") == content_of(many / "semantic")
    assert {stage for stage, *_ in calls} == {"weighing", "decomposing", "projecting"}
    assert not list(many.rglob("workspace-*"))


@pytest.mark.parametrize("method", ["plsa", "wtm"])
def test_a_topic_model_is_that_of_one_machine(copies, cluster, method, monkeypatch):
    monkeypatch.setattr("searchlab.topic_models.plsa.MIN_HELD_OUT_WORDS", 50)
    for learn in (learn_in_blocks, learn_latent_topics):
        monkeypatch.setitem(learn.__kwdefaults__, "iterations", 3)
    if method == "wtm":  # which counts each word as often as it has neighbours
        monkeypatch.setattr(document_blocks, "BLOCK_WORDS", 10_000)
    one, many = copies
    models = [
        build_topic_model(index, method=method, n_topics=3, cluster=where)
        for index, where in ((one, None), (many, cluster))
    ]
    assert content_of(one / "topics" / method) == content_of(many / "topics" / method)
    assert models[0].record.perplexity == models[1].record.perplexity
    assert not list(many.rglob("workspace-*"))


def test_vectors_of_new_shards_are_those_of_one_machine(copies, cluster):
    homes = []
    for index, where in zip(copies, (None, cluster), strict=True):
        build_space(index, dims=4)
        build_topic_model(index, n_topics=2)
        merge(index)
        update_space(index, cluster=where)
        update_topic_model(index, cluster=where)
        homes.append([content_of(index / "semantic"), content_of(index / "topics" / "plsa")])
    assert [sorted(each.values()) for each in homes[0]] == [sorted(each.values()) for each in homes[1]]


def test_shards_and_blocks_do_not_change_a_space_beyond_rounding(build, documents, folder, monkeypatch):
    whole = build_space(build(documents), dims=4)
    assert len(whole.snapshot.shards) == 1 < len(Snapshot(folder).shards)
    homes = [whole.home, build_space(folder, dims=4, home=whole.home.parent / "other").home]
    assert content_of(homes[0])["terms"] == content_of(homes[1])["terms"]
    monkeypatch.setattr(document_blocks, "BLOCK_WORDS", 10**9)
    in_one_block = build_space(folder, dims=4, home=whole.home.parent / "third")
    np.testing.assert_allclose(in_one_block._V.whole, whole._V.whole, atol=1e-9)


def test_what_a_killed_client_left_is_swept_by_the_next_writer(copies):
    home = copies[0] / "semantic"
    build_space(copies[0], dims=2)
    (home / "workspace-0123abcd").mkdir()
    (home / "workspace-0123abcd" / "rest").touch()
    build_space(copies[0], dims=2)
    assert not list(home.glob("workspace-*"))
