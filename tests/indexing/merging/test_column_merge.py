"""Merging by columns gives what indexing the live documents together gives, to the last byte."""

import random
from contextlib import closing

import numpy as np
import pytest

import searchlab
from searchlab.errors import IndexCorrupt
from searchlab.indexing.merging.column_merge import merge_columns
from searchlab.indexing.merging.merge import group_shards
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.layout import COLUMNS, STORED_DOCUMENTS, WHOOSH
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.records import Document

WORDS = ["the", "of", "heat", "flow", "flows", "flowing", "wing", "wings", "Münster", "naïve", "漢字", "run", "running"]
FIELDS = {
    "year": [1988, 1990.5, "1991", -3],
    "seen": ["1988-12-31", "2001/2/3", "never"],
    "mesh": [["Lung Neoplasms", "Mice"], ["Mice"], [], ["Heat", "Heat"]],
    "note": ["", "ß", "x" * 300, None],
}


def random_documents(rng, docnos):
    for docno in docnos:
        fields = {name: rng.choice(values) for name, values in FIELDS.items() if rng.random() < 0.5}
        if rng.random() < 0.1:
            fields[f"rare {docno}"] = docno
        if rng.random() < 0.5:
            fields["text_language"] = rng.choice(["english", "german", "none"])
        lengths = [0, 1, 5], [0, 1, 5, 5, 5, 5, 5, 15_000]  # the last makes a body that is stored in blocks
        title, body = (" ".join(rng.choices(WORDS, k=rng.choice(each))) for each in lengths)
        yield Document(docno, title, f"{body} only{docno}" if rng.random() < 0.3 else body, fields)


def arrays_of(path):
    return {name: column.whole for name, column in ArrayFile(path).items()}


def assert_same_shard(one, other):
    for name in (COLUMNS, STORED_DOCUMENTS):
        ours, theirs = arrays_of(one / name), arrays_of(other / name)
        assert list(ours) == list(theirs)
        for column, array in ours.items():
            assert array.dtype == theirs[column].dtype, column
            assert np.array_equal(array, theirs[column]), column
    for pattern in ("*.pst", "*.trm", "*.col"):
        contents = [sorted(path.read_bytes() for path in (folder / WHOOSH).glob(pattern)) for folder in (one, other)]
        assert contents[0] == contents[1]


@pytest.mark.parametrize("options", [{}, {"ngrams": 3}, {"language": "english,german"}])
@pytest.mark.parametrize("seed", range(4))
def test_merged_shards_are_those_of_a_new_index(tmp_path, seed, options):
    rng = random.Random(seed)
    docnos = rng.sample([f"d{number}" for number in range(200)] + ["É", "漢", "z z".replace(" ", "_")], 60)
    documents = {document.docno: document for document in random_documents(rng, docnos)}
    folder = tmp_path / "index"
    rest = list(documents.values())
    searchlab.index(rest[:15], folder, jobs=1, **options)
    for start in range(15, 60, 15):
        searchlab.index(rest[start : start + 15], folder, jobs=1)
    if seed:  # changed and removed documents
        changed = list(random_documents(rng, rng.sample(docnos, 8)))
        searchlab.index(changed, folder, jobs=1)
        documents |= {document.docno: document for document in changed}
        removed = rng.sample(docnos, 7)
        searchlab.delete(folder, removed)
        documents = {docno: document for docno, document in documents.items() if docno not in removed}
    assert len(read_index_manifest(folder).shards) > 1
    searchlab.merge(folder)
    searchlab.index(list(documents.values()), tmp_path / "new", jobs=1, **options)
    (merged,), (new,) = (read_index_manifest(path).shards for path in (folder, tmp_path / "new"))
    assert (merged.n_docs, merged.n_words, merged.n_deleted) == (new.n_docs, new.n_words, 0)
    assert_same_shard(folder / merged.name, tmp_path / "new" / new.name)
    assert searchlab.examine(folder).findings == ()


def test_documents_are_copied_with_their_digests_so_damage_stays_visible(tmp_path):
    """A document that is not what was indexed does not become sound by a merge."""
    folder = tmp_path / "index"
    searchlab.index([Document("a", "heat")], folder)
    searchlab.index([Document("b", "flow")], folder)
    with closing(Snapshot(folder)) as snapshot:
        content = merge_columns(snapshot.shards, snapshot.manifest.settings)
        digests = [shard.columns.digests[0].tobytes() for shard in snapshot.shards]
    assert [row.tobytes() for row in content.digests] == digests


def test_columns_that_do_not_fit_are_named(tmp_path):
    folder = tmp_path / "index"
    searchlab.index([Document("a", "heat flow")], folder)
    (record,) = read_index_manifest(folder).shards
    path = folder / record.name / COLUMNS
    arrays = arrays_of(path)
    path.unlink()
    write_arrays(path, arrays | {"title.lengths": arrays["title.lengths"] + 7})  # with a sound checksum
    with (
        closing(Snapshot(folder)) as snapshot,
        pytest.raises(IndexCorrupt, match=f"{record.name}: columns that do not fit"),
    ):
        merge_columns(snapshot.shards, snapshot.manifest.settings)


def record(words):
    return ShardRecord(f"shard-{words}", 10, words, {})


def test_groups_are_no_larger_than_a_full_shard(monkeypatch):
    monkeypatch.setattr("searchlab.indexing.building.workers.MAX_WORDS_PER_SHARD", 24_000_000)
    sizes = [13, 13, 13, 13, 2, 1]
    groups = group_shards([record(words * 10**6) for words in sizes], 1)
    words = sorted(sorted(shard.n_words // 10**6 for shard in group) for group in groups)
    assert words == [[1, 13], [2, 13], [13], [13]]


def test_groups_for_several_jobs_have_about_the_same_size():
    groups = group_shards([record(words) for words in (5, 4, 3, 3, 1)], 2)
    assert [sum(shard.n_words for shard in group) for group in groups] == [8, 8]
    assert [len(group) for group in group_shards([record(5)], 4)] == [1]
