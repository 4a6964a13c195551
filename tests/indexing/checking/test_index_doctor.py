"""The doctor finds and names whatever is wrong with an index, and finds nothing in a healthy one."""

import json
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from searchlab.analysis import analyzer
from searchlab.errors import REBUILD, IndexCorrupt, IndexMissing
from searchlab.indexing.building.deletion import delete
from searchlab.indexing.checking import column_checks, index_doctor
from searchlab.indexing.checking.diagnosis import AFFECTS_DISPLAY, AFFECTS_WHOOSH, IndexFinding
from searchlab.indexing.checking.index_doctor import examine
from searchlab.indexing.inversion.inversion import InvertedStream
from searchlab.indexing.merging.merge import merge
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.storage.documents.document_packing import PackedDocuments, pack_document
from searchlab.indexing.storage.file_sync import sync_tree
from searchlab.indexing.storage.layout import (
    COLUMNS,
    IN_USE,
    LAYOUT_VERSION,
    MANIFEST,
    STORED_DOCUMENTS,
    WHOOSH,
    WRITER_LOCK,
)
from searchlab.indexing.storage.lock import lock_shard_exclusively
from searchlab.indexing.storage.manifest import commit_manifest, read_index_manifest, remove_unreferenced
from searchlab.indexing.storage.shard import write_deletions
from searchlab.indexing.whoosh.segment_writer import write_whoosh
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from tests.indexing.packed_arrays import alter_columns

# Every column has something in it: two texts, words twice in one, fields with texts, values, numbers and dates.
DOCUMENTS = [
    Document("a", "heat flow", "heat of wings in heat", {"mesh": ["Lung Neoplasms", "Mice"], "year": 1988}),
    Document("b", "prison cell", "the cell the cell", {"year": 1990, "seen": "1990-03-01"}),
    Document("c", "", "wings flow flow", {"mesh": ["Mice", "Nude Mice"], "seen": ["1988-12-31", "2001/2/3"]}),
    Document("d", "flow", ""),
]


@pytest.fixture(autouse=True)
def without_syncing(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "index")


def files_of(folder):
    return sorted(path for path in folder.glob("shard-*/**/*") if path.is_file())


def shards_of(folder):
    return [record.name for record in read_index_manifest(folder).shards]


def location_of(path, folder):
    return path.relative_to(folder).as_posix()


def update_checksums(folder, *, shard=0, **changes):
    """Write the current checksums of a shard's files to the manifest, so that no checksum reveals a change."""
    manifest = read_index_manifest(folder)
    record = manifest.shards[shard]
    updated = replace(record, files=sync_tree(folder / record.name), **changes)
    shards = [*manifest.shards[:shard], updated, *manifest.shards[shard + 1 :]]
    commit_manifest(folder, manifest.next(shards))


def alter(folder, change, *, unpacked=True):
    """Change the columns of the first shard (see `alter_columns`), and update their checksums."""
    alter_columns(folder / read_index_manifest(folder).shards[0].name / COLUMNS, change, unpacked=unpacked)
    update_checksums(folder)


def test_a_new_index_is_healthy(folder):
    diagnosis = examine(folder)
    assert diagnosis.findings == ()
    assert diagnosis.healthy
    assert (diagnosis.folder, diagnosis.n_shards, diagnosis.n_docs) == (folder, 1, 4)
    # By hand, distinct words: 2 + 2 + 0 + 1 of titles, 4 + 2 + 2 + 0 of bodies.
    assert (diagnosis.n_postings, diagnosis.n_compared) == (13, 13)


@pytest.mark.parametrize("documents", [[Document("a")], [Document("é日", "", "", {"": "", "x": [None, {}]})]])
def test_an_index_of_documents_without_any_word_is_healthy(build, documents):
    assert examine(build(documents)).findings == ()


NGRAM_DAMAGE = {
    "ngrams.tokens": lambda column: column[::-1].copy(),
    "ngrams.tokens.offsets": lambda column: column[[0, 2, 1, *range(3, len(column))]],
    "ngrams.title_lengths": lambda column: column + 100,
    "ngrams.lengths": lambda column: column + 1,
    "ngrams.terms": lambda column: column[::-1].copy(),
}


def test_an_index_with_ngrams_is_examined_like_any_other(build, tmp_path):
    settings = analyzer.AnalysisSettings("none", "none", frozenset(), ngrams=2)
    folder = build(DOCUMENTS, folder=tmp_path / "ngrams", settings=settings)
    assert examine(folder).findings == ()
    for name, damage in NGRAM_DAMAGE.items():
        build(DOCUMENTS, folder=folder, settings=settings)
        alter(folder, lambda arrays: arrays.update({name: damage(arrays[name])}))  # noqa: B023
        (finding,) = examine(folder).findings
        assert "ngrams" in finding.problem
    build(DOCUMENTS, folder=folder, settings=settings)
    alter(folder, lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("ngrams.")])
    with pytest.raises(IndexCorrupt, match="streams title, body, both, expected title, body, both, ngrams"):
        Snapshot(folder)


def add_one_to_the_first(column):
    return np.concatenate([column[:1] + 1, column[1:]])


@pytest.mark.parametrize("name", ["positions", "positions.terms", "positions.offsets"])
def test_positions_that_do_not_agree_with_the_tokens_are_found(folder, name):
    alter(folder, lambda arrays: arrays.update({name: add_one_to_the_first(arrays[name])}))
    (finding,) = examine(folder).findings
    assert f"{name} does not agree with tokens" in finding.problem


def test_an_index_from_before_there_were_positions_is_healthy_and_finds_the_same(folder):
    query = '"the cell" OR "wings flow" OR "heat wings"'
    with SearchEngine(folder) as engine:
        expected = engine.search(query, syntax="full")
    assert sorted(expected.docnos) == ["b", "c"]
    alter(folder, lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("positions")])
    assert examine(folder).findings == ()
    with SearchEngine(folder) as engine:
        assert engine.snapshot.shards[0].columns.positions is None
        found = engine.search(query, syntax="full")
    assert (list(found.docnos), list(found.scores)) == (list(expected.docnos), list(expected.scores))


def test_an_index_with_many_documents_is_healthy(build):
    # More documents than a block of packed postings, more postings than a block of Whoosh holds.
    documents = [Document(f"d{n}", "even " * (n % 2), f"all word{n % 9} " * (n % 4), {"n": n}) for n in range(300)]
    folder = build(documents)
    assert examine(folder).findings == ()


def test_an_index_that_was_updated_and_merged_is_healthy(build, folder):
    build([Document("a", "changed"), Document("e", "new")], folder=folder, rebuild=False)
    delete(folder, ["b"])
    diagnosis = examine(folder)
    assert (diagnosis.findings, diagnosis.n_docs) == ((), 4)
    assert sum(record.n_deleted for record in read_index_manifest(folder).shards) == 2
    merge(folder)
    diagnosis = examine(folder)
    assert (diagnosis.findings, diagnosis.n_docs, diagnosis.n_shards) == ((), 4, 1)


def test_progress_is_reported_by_stages_up_to_the_end(build):
    folder = build(DOCUMENTS, words_per_shard=4)
    reports = []
    examine(folder, lambda stage, done, total: reports.append((stage, done, total)))
    last = {stage: (done, total) for stage, done, total in reports}
    assert list(last) == ["files", "columns", "documents", "Whoosh", "postings"]
    assert all(done == total > 0 for done, total in last.values())
    assert last["files"][0] == read_index_manifest(folder).n_bytes


def test_where_no_index_is_there_is_nothing_to_examine(tmp_path):
    with pytest.raises(IndexMissing, match="no index here"):
        examine(tmp_path / "nowhere")


def test_a_flipped_bit_anywhere_is_found_in_its_file(folder):
    paths = [path for path in files_of(folder) if path.stat().st_size]
    assert {path.parent.name for path in paths} >= {WHOOSH}
    for path in paths:
        content = path.read_bytes()
        for position in {*range(0, len(content), 1 + len(content) // 12), len(content) - 1}:
            flipped = bytearray(content)
            flipped[position] ^= 1 << position % 8
            path.write_bytes(flipped)
            (finding,) = examine(folder).findings
            assert (finding.location, finding.serious) == (location_of(path, folder), True)
            assert finding.problem == "not what was written (its checksum differs)"
            part = WHOOSH if path.parent.name == WHOOSH else path.name
            assert finding.remedy == {WHOOSH: AFFECTS_WHOOSH, STORED_DOCUMENTS: AFFECTS_DISPLAY}.get(part, REBUILD)
        path.write_bytes(content)
    assert examine(folder).findings == ()


def test_a_flipped_bit_of_the_manifest_is_found_or_harmless(folder):
    content = (folder / MANIFEST).read_bytes()
    whole = read_index_manifest(folder)
    n_found = 0
    for position in range(0, len(content), 23):
        flipped = bytearray(content)
        flipped[position] ^= 4
        (folder / MANIFEST).write_bytes(flipped)
        diagnosis = examine(folder)
        n_found += not diagnosis.healthy
        if diagnosis.healthy:
            assert read_index_manifest(folder) == whole  # white space became other white space
        else:
            assert [finding.location for finding in diagnosis.findings] == [MANIFEST]
    assert n_found > 20


def test_every_truncated_file_is_found(folder):
    paths = [path for path in files_of(folder) if path.stat().st_size]
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        expected = IndexFinding(location_of(path, folder), f"{len(content) - 1} bytes, expected {len(content)}")
        assert examine(folder).findings == (expected,)
        path.write_bytes(content)


def test_every_missing_file_is_found(folder):
    paths = files_of(folder)
    assert IN_USE in {path.name for path in paths}
    for path in paths:
        path.rename(folder / "aside")
        assert examine(folder).findings == (IndexFinding(location_of(path, folder), "missing"),)
        (folder / "aside").rename(path)


def test_several_damaged_files_are_several_findings(build, tmp_path):
    folder = build(DOCUMENTS, folder=tmp_path / "i", words_per_shard=4)
    paths = [shard / COLUMNS for shard in sorted(folder.glob("shard-*/"))]
    assert len(paths) > 1
    for path in paths:
        path.write_bytes(b"damaged")
    assert {finding.location for finding in examine(folder).findings} == {location_of(path, folder) for path in paths}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_found(folder):
    path = files_of(folder)[0]
    path.chmod(0)
    (finding,) = examine(folder).findings
    assert (finding.location, finding.problem) == (location_of(path, folder), "cannot be read (Permission denied)")


@pytest.mark.parametrize("name", ["notes.txt", f"{WHOOSH}/notes.txt"])
def test_a_file_that_does_not_belong_there_harms_nothing(folder, name):
    (shard,) = folder.glob("shard-*")
    (shard / name).write_text("mine")
    diagnosis = examine(folder)
    expected = IndexFinding(
        f"{shard.name}/{name}", "a file that the manifest does not name", "remove it", serious=False
    )
    assert diagnosis.findings == (expected,)
    assert diagnosis.healthy


def test_what_an_interrupted_run_left_harms_nothing_and_is_removed_by_the_next_run(folder):
    (shard,) = folder.glob("shard-*")
    shutil.copytree(shard, folder / "shard-0badc0de-0")
    (shard / "dead-0badc0de").write_bytes(b"half")
    (folder / f"{MANIFEST}.new").write_text("{")
    (folder / WRITER_LOCK).write_text("process 7 (who died)")
    diagnosis = examine(folder)
    locations = {"shard-0badc0de-0", f"{shard.name}/dead-0badc0de", f"{MANIFEST}.new"}
    assert {finding.location for finding in diagnosis.findings} == locations
    assert all("the next `searchlab index` removes it" in str(finding) for finding in diagnosis.findings)
    assert diagnosis.healthy
    remove_unreferenced(folder, read_index_manifest(folder))
    assert examine(folder).findings == ()


def test_a_manifest_that_cannot_be_read_is_a_finding(folder):
    (folder / MANIFEST).write_bytes(b"{")
    assert examine(folder).findings == (IndexFinding(MANIFEST, "not a manifest", REBUILD),)


def test_an_index_of_a_later_version_asks_for_an_update(folder):
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layout": LAYOUT_VERSION + 1}))
    (finding,) = examine(folder).findings
    assert (finding.location, finding.remedy, finding.serious) == (MANIFEST, "update searchlab", True)


def test_an_index_of_other_word_rules_asks_for_a_rebuild(folder, monkeypatch):
    monkeypatch.setattr(analyzer, "WORD_RULES_VERSION", analyzer.WORD_RULES_VERSION + 1)  # type: ignore[attr-defined]
    (finding,) = examine(folder).findings
    assert (finding.location, finding.remedy, finding.serious) == (MANIFEST, REBUILD, True)


def put(column, index, value):
    """A change: other numbers at an index of a column."""
    return lambda arrays: arrays[column].__setitem__(index, value)


def add(column, index, amount=1):
    return lambda arrays: arrays[column].__setitem__(index, arrays[column][index] + amount)


def swap(column, one=0, other=1):
    return lambda arrays: arrays[column].__setitem__([one, other], arrays[column][[other, one]])


# Terms in their order: cell, flow, heat, in, of, prison, the, wings; documents a, b, c, d.
ALTERED = {
    "docnos out of order": (put("docnos", 0, ord("z")), "docnos is not distinct strings in the order of their bytes"),
    "docnos not UTF-8": (put("docnos", 3, 0xFF), "docnos is not distinct strings"),
    "docnos' offsets": (put("docnos.offsets", 1, 3), "docnos is not distinct strings"),
    "terms twice": (put("terms", slice(4, 8), [ord(c) for c in "cell"]), "terms is not distinct strings"),
    "words out of order": (put("words", 0, ord("z")), "words is not distinct strings"),
    "word of no term": (put("words.terms", 0, 8), "words.terms has the number of a term that does not exist"),
    "offsets not from 0": (put("title.offsets", 0, 1), "title.offsets does not ascend from 0"),
    "offsets that fall": (put("both.offsets", 2, 0), "both.offsets does not ascend from 0"),
    "a document out of range": (
        put("body.docs", -1, 9),
        "body.packed has documents that do not exist",
    ),
    "a wrong tf": (put("body.tfs", 0, 3), "body.packed does not agree with counts and max_tfs and lengths"),
    "another document": (put("both.docs", 0, 0), "both.packed does not agree with lengths and uniques"),
    "a wrong count": (add("body.counts", 0), "body.counts is not what the postings of body give"),
    "a wrong largest tf": (add("both.max_tfs", -1), "both.max_tfs is not what the postings of both give"),
    "a wrong length": (add("title.lengths", 2), "title.lengths is not what the postings of title give"),
    "lengths swapped": (swap("body.lengths"), "body.lengths is not what the postings of body give"),
    "a wrong number of terms": (add("both.uniques", 0), "both.uniques is not what the postings of both give"),
    "no such token": (put("tokens", 0, 8), "tokens has the number of a term that does not exist"),
    "another token": (put("tokens", 0, 0), "tokens does not agree with the postings of title and both"),
    "tokens swapped between documents": (
        swap("tokens", 0, 7),
        "tokens does not agree with the postings of title and both",
    ),
    "a token too many": (add("tokens.offsets", 1), "tokens.offsets does not agree with both.lengths"),
    "tokens' offsets": (put("tokens.offsets", 0, 1), "tokens.offsets does not ascend from 0"),
    "a wrong digest": (add("digests", (1, 5)), "'b' does not have the digest"),
    "digests swapped": (swap("digests", 2, 3), "'c' does not have the digest"),
    "another letter of a docno": (put("docnos", 3, ord("e")), "'e' does not have the digest"),
    "another letter of a term": (put("terms", 3, ord("m")), "title: 'cell' occurs .* but 'celm' occurs"),
    "a field's name": (put("field.names", 0, ord("n")), "field.names lacks the field of a term or of a value"),
    "a field's words out of order": (put("field.terms", 0, ord("z")), "field.terms is not distinct strings"),
    "a field's postings": (put("field.postings", 1, 0), "field.docs"),
    "a field's document": (put("field.docs", 0, 3), "field.docs and its frequencies do not agree with"),
    "a field's tf": (add("field.tfs", 0), "field.docs and its frequencies do not agree with field.tokens"),
    "a field's tf of zero": (put("field.tfs", 0, 0), "field.tfs has a frequency below 1"),
    "a field's entry": (put("field.entry_docs", 0, 9), "field.entry_docs is not numbers of documents"),
    "a field's entries": (put("field.entries", 0, 1), "field.entries does not ascend from 0"),
    "a field's length": (add("field.entry_lengths", 0), "field.entry_lengths is not what field.tokens counts"),
    "a field's token": (put("field.tokens", 0, 99), "field.tokens has the number of a term that does not exist"),
    "a field's tokens' offsets": (put("field.token_offsets", 0, 1), "field.token_offsets does not ascend from 0"),
    "a value's document": (
        put("field.value_docs", 0, 3),
        "field.value_docs has a document that does not have the field",
    ),
    "a number's document": (put("field.number_docs", 0, 3), "field.number_docs has a document that does not have"),
    "a date's document": (
        put("field.date_docs", 0, 9),
        "field.date_docs has the number of a document that does not exist",
    ),
    "numbers that fall": (put("field.numbers", 0, 2000), "field.numbers is not numbers in ascending order"),
    "dates that are none": (put("field.dates", -1, np.nan), "field.dates is not dates in ascending order"),
    "numbers of no field": (put("field.number_offsets", 0, 1), "field.number_offsets does not ascend from 0"),
}


@pytest.mark.parametrize("case", ALTERED)
def test_columns_that_do_not_agree_are_named(folder, case):
    change, problem = ALTERED[case]
    alter(folder, change)
    (finding,) = examine(folder).findings
    assert finding.serious
    assert finding.location in {
        f"{shard}/{part}" for shard in shards_of(folder) for part in (COLUMNS, STORED_DOCUMENTS, WHOOSH)
    }
    assert re.search(problem, finding.problem)


def test_any_altered_number_of_a_column_is_found(folder):
    # No other column depends on the spelling of a word or value, or on which documents with a field have a value.
    strings = {"words", "field.terms", "field.values"}
    unchecked = {"words.terms", *strings, *(f"{name}.offsets" for name in strings)}
    unchecked |= {f"field.{kind}{part}" for kind in ("value", "number", "date") for part in ("s", "_docs", "_offsets")}
    path = folder / shards_of(folder)[0] / COLUMNS
    written = {name: column.whole.copy() for name, column in ArrayFile(path).items() if name not in unchecked}
    n_altered = 0
    for name, array in written.items():
        for index in {0, array.size // 3, array.size // 2, array.size - 1} if array.size else ():
            for bit in (1, 2):
                altered = array.copy()
                altered.reshape(-1)[index] ^= array.dtype.type(bit)
                alter(folder, put(name, ..., altered), unpacked=False)
                assert not examine(folder).healthy, (name, index, bit)
                n_altered += 1
        alter(folder, put(name, ..., array), unpacked=False)
    assert n_altered > 250
    assert examine(folder).findings == ()


@pytest.mark.parametrize(
    "name", ["tokens", "both.packed", "both.packed.starts", "docnos.offsets", "field.entries", "digests"]
)
def test_columns_that_do_not_fit_together_are_found(folder, name):
    alter(folder, lambda arrays: arrays.update({name: arrays[name][:-1]}), unpacked=False)
    (finding,) = examine(folder).findings
    assert finding.location == f"{shards_of(folder)[0]}/{COLUMNS}"
    assert re.search("fit", finding.problem)
    assert finding.remedy == REBUILD


def test_a_column_that_is_missing_is_found(folder):
    alter(folder, lambda arrays: [arrays.pop("tokens"), arrays.update(other=np.zeros(1))])
    assert examine(folder).findings == (IndexFinding(f"{shards_of(folder)[0]}/{COLUMNS}", "lacks tokens"),)


@pytest.mark.parametrize("kind", [np.float64, "U3"])
def test_a_column_of_another_kind_is_found(folder, kind):
    alter(folder, lambda arrays: arrays.update({"both.packed": arrays["both.packed"].astype(kind)}))
    (finding,) = examine(folder).findings
    assert finding.location == f"{shards_of(folder)[0]}/{COLUMNS}"


def test_fewer_documents_than_the_manifest_says_are_found(folder):
    update_checksums(folder, n_docs=5)
    assert [finding.problem for finding in examine(folder).findings] == ["4 documents, expected 5"]


@pytest.fixture
def with_deletion(folder):
    """The index with one deleted document."""
    delete(folder, ["b"])
    assert read_index_manifest(folder).shards[0].n_deleted == 1
    return folder


@pytest.mark.parametrize(
    ("deleted", "problem"),
    [
        ([9], "not a list of deleted documents"),
        ([0, 1], "2 deleted documents, expected 1"),
        ([], "0 deleted documents, expected"),
    ],
)
def test_a_wrong_list_of_deleted_documents_is_found(with_deletion, deleted, problem):
    record = read_index_manifest(with_deletion).shards[0]
    other = write_deletions(with_deletion / record.name, record, np.array(deleted, np.int64))
    commit_manifest(with_deletion, read_index_manifest(with_deletion).next([replace(other, n_deleted=1)]))
    (finding,) = examine(with_deletion).findings
    assert finding.location == f"{record.name}/{other.deleted_file}"
    assert problem in finding.problem


def test_a_damaged_list_of_deleted_documents_is_found(with_deletion):
    record = read_index_manifest(with_deletion).shards[0]
    path = with_deletion / record.name / record.deleted_file
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert [finding.location for finding in examine(with_deletion).findings] == [f"{record.name}/{record.deleted_file}"]


def test_a_document_that_is_live_in_two_shards_is_found(build, folder, tmp_path):
    other = build([Document("c", "again"), Document("b", "again"), Document("e", "new")], folder=tmp_path / "other")
    (twin,) = read_index_manifest(other).shards
    shutil.copytree(other / twin.name, folder / twin.name)
    manifest = read_index_manifest(folder)
    commit_manifest(folder, manifest.next([*manifest.shards, twin]))
    expected = IndexFinding(twin.name, "2 documents are live in other shards too, such as 'b'")
    assert examine(folder).findings == (expected,)


def test_a_document_that_is_deleted_in_one_shard_may_be_live_in_another(build, folder):
    build([Document("c", "again")], folder=folder, rebuild=False)
    assert [record.n_deleted for record in read_index_manifest(folder).shards] == [1, 0]
    assert examine(folder).findings == ()


def rewrite_whoosh(folder, *, documents=DOCUMENTS, terms=None, change=None):
    """Write the Whoosh index of the first shard again from its columns, with something changed."""
    (shard,) = Snapshot(folder).shards
    inverted, lengths = {}, {}
    for name in ("title", "body"):
        stream = shard.columns.streams[name]
        inverted[name] = InvertedStream(
            stream.offsets.whole.copy(),
            stream.docs.whole.copy(),
            stream.tfs.whole.astype(np.uint32),
            np.zeros(stream.tfs.whole.sum(), np.uint32),
        )
        lengths[name] = stream.lengths.whole
    if change is not None:
        change(inverted["body"])
    shard.close()
    shutil.rmtree(shard.folder / WHOOSH)
    names = list(shard.columns.terms) if terms is None else terms
    docnos = PackedStrings.pack(document.docno for document in documents)
    packed = PackedStrings.pack(names)
    write_whoosh(shard.folder / WHOOSH, read_index_manifest(folder).settings, docnos, packed, inverted, lengths)
    update_checksums(folder)
    return f"{shard.folder.name}/{WHOOSH}"


def test_whoosh_written_again_from_the_columns_is_healthy(folder):
    rewrite_whoosh(folder)
    assert examine(folder).findings == ()


def test_a_posting_that_whoosh_has_otherwise_is_found(folder):
    # Body: "flow" occurs in c twice, "heat" in a twice, "the" in b twice, "wings" in a and in c. By document and
    # weight the postings of "wings" are (0, 1), (2, 1): as (1, 1), (2, 1) they have the same statistics.
    (shard,) = Snapshot(folder).shards
    wings = int(shard.columns.streams["body"].offsets[shard.columns.terms.find("wings")])
    location = rewrite_whoosh(folder, change=lambda body: body.docs.__setitem__(wings, 1))
    problem = "body: the postings of 'wings' are not those of the columns"
    assert examine(folder).findings == (IndexFinding(location, problem, AFFECTS_WHOOSH),)


def test_a_weight_that_whoosh_has_otherwise_is_found(folder):
    location = rewrite_whoosh(folder, change=lambda body: body.tfs.__setitem__(0, 1))
    problem = "body: 'cell' occurs 1 times in 1 documents, but 'cell' occurs 2 times in 1 documents in the columns"
    assert examine(folder).findings == (IndexFinding(location, problem, AFFECTS_WHOOSH),)


def test_a_term_that_whoosh_lacks_or_has_alone_is_found(folder):
    terms = ["cell", "flow", "heat", "in", "of", "prison", "the", "zings"]
    rewrite_whoosh(folder, terms=terms)
    (finding,) = examine(folder).findings
    assert finding.problem.startswith("body: 'zings' occurs 2 times in 2 documents, but 'wings' occurs")


def test_a_stored_document_that_differs_is_found(folder):
    (path,) = folder.glob(f"shard-*/{STORED_DOCUMENTS}")
    changed = [*DOCUMENTS[:3], replace(DOCUMENTS[3], title="otherwise")]
    write_arrays(path, PackedDocuments(map(pack_document, changed)).arrays())
    update_checksums(folder)
    (finding,) = examine(folder).findings
    assert finding.problem == "'d' does not have the digest that the columns give it"


def test_stored_documents_of_another_shard_are_found(build, folder):
    (other,) = build(DOCUMENTS[:3]).glob(f"shard-*/{STORED_DOCUMENTS}")
    (path,) = folder.glob(f"shard-*/{STORED_DOCUMENTS}")
    shutil.copy(other, path)
    update_checksums(folder)
    (finding,) = examine(folder).findings
    assert finding.problem == "damaged (the documents do not fit their offsets)"


def test_a_docno_that_whoosh_has_otherwise_is_found(folder):
    location = rewrite_whoosh(folder, documents=[*DOCUMENTS[:3], replace(DOCUMENTS[3], docno="x")])
    problem = "document 3 is 'x', but 'd' in the columns"
    assert examine(folder).findings == (IndexFinding(location, problem, AFFECTS_WHOOSH),)


def test_whoosh_of_another_index_is_found(build, folder):
    (other,) = build(DOCUMENTS[:3]).glob("shard-*")
    shard = folder / shards_of(folder)[0]
    shutil.rmtree(shard / WHOOSH)
    shutil.copytree(other / WHOOSH, shard / WHOOSH)
    update_checksums(folder)
    (finding,) = examine(folder).findings
    assert finding.location == f"{shards_of(folder)[0]}/{WHOOSH}"
    assert finding.problem.startswith("cannot be read")


def test_whoosh_that_cannot_be_read_is_found(folder):
    (postings,) = folder.glob(f"shard-*/{WHOOSH}/*.pst")
    postings.write_bytes(b"x" * postings.stat().st_size)
    update_checksums(folder)
    (finding,) = examine(folder).findings
    assert finding.location == f"{shards_of(folder)[0]}/{WHOOSH}"
    assert "cannot be read" in finding.problem


def test_with_a_flipped_bit_in_whoosh_searching_still_works(folder):
    expected = SearchEngine(folder).search("wings").docnos
    assert expected
    paths = [path for path in folder.glob(f"shard-*/{WHOOSH}/*") if path.stat().st_size]
    for path in paths:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert [finding.remedy for finding in examine(folder).findings] == [AFFECTS_WHOOSH] * len(paths)
    assert SearchEngine(folder).search("wings").docnos == expected


def test_of_many_postings_a_sample_is_compared(build, monkeypatch):
    folder = build([Document(f"d{n}", f"t{n % 7}", f"w{n % 50} x{n} all") for n in range(200)], words_per_shard=300)
    whole = examine(folder)
    assert whole.n_compared == whole.n_postings == 200 * 4
    monkeypatch.setattr(index_doctor, "MAX_COMPARED_POSTINGS", 500)
    monkeypatch.setattr(index_doctor, "SAMPLED_POSTINGS", 300)
    sampled = examine(folder)
    assert sampled.findings == ()
    assert sampled.n_postings == 800
    assert 300 <= sampled.n_compared < 800
    assert examine(folder) == sampled


def test_texts_longer_than_a_hash_block_are_compared_whole(folder, monkeypatch):
    monkeypatch.setattr(column_checks, "HASH_BLOCK", 3)
    assert examine(folder).findings == ()
    alter(folder, swap("tokens", -1, 0))
    assert [finding.problem for finding in examine(folder).findings] == [
        "tokens does not agree with the postings of title and both"
    ]


def test_shards_are_locked_while_they_are_examined(folder):
    shard = folder / shards_of(folder)[0]

    def lock_exclusively(stage, done, total):
        with pytest.raises(BlockingIOError):
            lock_shard_exclusively(shard)

    examine(folder, lock_exclusively)
    os.close(lock_shard_exclusively(shard))


def test_an_index_that_is_rebuilt_while_it_is_opened_is_examined_again(folder, rebuild_during_opening):
    rebuild_during_opening(index_doctor, folder)
    diagnosis = examine(folder)
    assert (diagnosis.findings, diagnosis.n_docs) == ((), 1)


def test_a_list_of_deleted_documents_that_a_commit_replaces_meanwhile_is_no_finding(with_deletion):
    def delete_more(stage, done, total):
        if read_index_manifest(with_deletion).n_docs == 3:
            delete(with_deletion, ["c"])

    diagnosis = examine(with_deletion, delete_more)
    assert (diagnosis.findings, diagnosis.n_docs) == ((), 2)


def test_a_finding_is_shown_on_one_line():
    assert str(IndexFinding("a/b", "missing", "remove it")) == "a/b: missing; remove it"
