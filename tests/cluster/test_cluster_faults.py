"""Workers that are killed at random times change no result."""

from benchmarks.cluster_faults import kill_workers
from searchlab.indexing import vocabulary
from searchlab.indexing.blockwise import document_blocks
from searchlab.indexing.parts import cluster_build
from tests.hypothesis_profiles import examples


def test_killed_workers_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", cluster_build.MIN_PART_BYTES)  # kill_workers sets it
    monkeypatch.setattr(document_blocks, "BLOCK_WORDS", vocabulary.BLOCK_WORDS)
    kinds = "index", "run by shards", "merge", "run", "features", "semantic", "train"
    n_wanted = len(kinds) * examples(2)
    n_kills, results = kill_workers(tmp_path, n_kills=n_wanted, n_documents=400, seed=4, seconds=0.5)
    assert n_kills == n_wanted
    assert set(results) == {f"{kind} equal" for kind in kinds}
