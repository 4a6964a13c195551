"""Does the doctor find whatever is wrong with an index, name it, and leave a healthy one alone?"""

import json
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from searchlab.analysis import analyzer
from searchlab.errors import REBUILD, IndexMissing
from searchlab.indexing.building.indexer import delete, merge
from searchlab.indexing.building.inversion import Inverted
from searchlab.indexing.checking import column_checks, index_doctor
from searchlab.indexing.checking.index_doctor import ONLY_SHOWN, Finding, examine
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.array_file import open_arrays, write_arrays
from searchlab.indexing.storage.file_sync import sync_tree
from searchlab.indexing.storage.layout import COLUMNS, IN_USE, LAYOUT_VERSION, MANIFEST, WHOOSH, WRITER_LOCK
from searchlab.indexing.storage.lock import lock_shard
from searchlab.indexing.storage.manifest import commit, read_manifest, sweep
from searchlab.indexing.storage.shard import bury
from searchlab.indexing.whoosh.segment_writer import write_whoosh
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine

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
    return [record.name for record in read_manifest(folder).shards]


def place_of(path, folder):
    return path.relative_to(folder).as_posix()


def reseal(folder, *, shard=0, **changes):
    """Let the manifest say what a shard's files are now: of what was changed, no checksum tells any longer."""
    manifest = read_manifest(folder)
    record = manifest.shards[shard]
    sealed = replace(record, files=sync_tree(folder / record.name), **changes)
    shards = [*manifest.shards[:shard], sealed, *manifest.shards[shard + 1 :]]
    commit(folder, manifest.next(shards))


def alter(folder, change):
    """Change the columns of the first shard, and seal them."""
    path = folder / read_manifest(folder).shards[0].name / COLUMNS
    arrays = {name: array.copy() for name, array in open_arrays(path).items()}
    change(arrays)
    path.unlink()  # whoever has mapped it keeps the old one
    write_arrays(path, arrays)
    reseal(folder)


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


def test_an_index_with_many_documents_is_healthy(build):
    # More documents than a word of a bitmap has bits, more postings than a block of Whoosh holds.
    documents = [Document(f"d{n}", "even " * (n % 2), f"all word{n % 9} " * (n % 4), {"n": n}) for n in range(300)]
    folder = build(documents)
    assert len(Snapshot(folder).shards[0].columns.streams["body"].dense) > 5
    assert examine(folder).findings == ()


def test_an_index_that_was_updated_and_merged_is_healthy(build, folder):
    build([Document("a", "changed"), Document("e", "new")], folder=folder, rebuild=False)
    delete(folder, ["b"])
    diagnosis = examine(folder)
    assert (diagnosis.findings, diagnosis.n_docs) == ((), 4)
    assert sum(record.n_dead for record in read_manifest(folder).shards) == 2
    merge(folder)
    diagnosis = examine(folder)
    assert (diagnosis.findings, diagnosis.n_docs, diagnosis.n_shards) == ((), 4, 1)


def test_progress_is_told_by_stages_up_to_the_end(build):
    folder = build(DOCUMENTS, words_per_shard=4)
    told = []
    examine(folder, lambda stage, done, total: told.append((stage, done, total)))
    last = {stage: (done, total) for stage, done, total in told}
    assert list(last) == ["files", "columns", "documents", "postings"]
    assert all(done == total > 0 for done, total in last.values())
    assert last["files"][0] == read_manifest(folder).n_bytes


def test_where_no_index_is_there_is_nothing_to_examine(tmp_path):
    with pytest.raises(IndexMissing, match="no index here"):
        examine(tmp_path / "nowhere")


def test_a_flipped_bit_anywhere_is_found_in_its_file(folder):
    paths = [path for path in files_of(folder) if path.stat().st_size]
    assert {path.parent.name for path in paths} >= {WHOOSH}
    for path in paths:
        content = path.read_bytes()
        for place in {*range(0, len(content), 1 + len(content) // 12), len(content) - 1}:
            flipped = bytearray(content)
            flipped[place] ^= 1 << place % 8
            path.write_bytes(flipped)
            (finding,) = examine(folder).findings
            assert (finding.place, finding.serious) == (place_of(path, folder), True)
            assert finding.problem == "not what was written (its checksum differs)"
            assert finding.remedy == (ONLY_SHOWN if path.parent.name == WHOOSH else REBUILD)
        path.write_bytes(content)
    assert examine(folder).findings == ()


def test_a_flipped_bit_of_the_manifest_is_found_or_harmless(folder):
    content = (folder / MANIFEST).read_bytes()
    whole = read_manifest(folder)
    n_found = 0
    for place in range(0, len(content), 23):
        flipped = bytearray(content)
        flipped[place] ^= 4
        (folder / MANIFEST).write_bytes(flipped)
        diagnosis = examine(folder)
        n_found += not diagnosis.healthy
        if diagnosis.healthy:
            assert read_manifest(folder) == whole  # white space became other white space
        else:
            assert [finding.place for finding in diagnosis.findings] == [MANIFEST]
    assert n_found > 20


def test_every_truncated_file_is_found(folder):
    paths = [path for path in files_of(folder) if path.stat().st_size]
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        expected = Finding(place_of(path, folder), f"{len(content) - 1} bytes, expected {len(content)}")
        assert examine(folder).findings == (expected,)
        path.write_bytes(content)


def test_every_missing_file_is_found(folder):
    paths = files_of(folder)
    assert IN_USE in {path.name for path in paths}
    for path in paths:
        path.rename(folder / "aside")
        assert examine(folder).findings == (Finding(place_of(path, folder), "missing"),)
        (folder / "aside").rename(path)


def test_several_damaged_files_are_several_findings(build, tmp_path):
    folder = build(DOCUMENTS, folder=tmp_path / "i", words_per_shard=4)
    paths = [shard / COLUMNS for shard in sorted(folder.glob("shard-*/"))]
    assert len(paths) > 1
    for path in paths:
        path.write_bytes(b"damaged")
    assert {finding.place for finding in examine(folder).findings} == {place_of(path, folder) for path in paths}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_found(folder):
    path = files_of(folder)[0]
    path.chmod(0)
    (finding,) = examine(folder).findings
    assert (finding.place, finding.problem) == (place_of(path, folder), "cannot be read (Permission denied)")


@pytest.mark.parametrize("name", ["notes.txt", f"{WHOOSH}/notes.txt"])
def test_a_file_that_does_not_belong_there_harms_nothing(folder, name):
    (shard,) = folder.glob("shard-*")
    (shard / name).write_text("mine")
    diagnosis = examine(folder)
    expected = Finding(f"{shard.name}/{name}", "a file that the manifest does not name", "remove it", serious=False)
    assert diagnosis.findings == (expected,)
    assert diagnosis.healthy


def test_what_an_interrupted_run_left_harms_nothing_and_is_swept(folder):
    (shard,) = folder.glob("shard-*")
    shutil.copytree(shard, folder / "shard-0badc0de-0")
    (shard / "dead-0badc0de").write_bytes(b"half")
    (folder / f"{MANIFEST}.new").write_text("{")
    (folder / WRITER_LOCK).write_text("process 7 (who died)")
    diagnosis = examine(folder)
    places = {"shard-0badc0de-0", f"{shard.name}/dead-0badc0de", f"{MANIFEST}.new"}
    assert {finding.place for finding in diagnosis.findings} == places
    assert all("the next `searchlab index` removes it" in str(finding) for finding in diagnosis.findings)
    assert diagnosis.healthy
    sweep(folder, read_manifest(folder))
    assert examine(folder).findings == ()


def test_a_manifest_that_cannot_be_read_is_a_finding(folder):
    (folder / MANIFEST).write_bytes(b"{")
    assert examine(folder).findings == (Finding(MANIFEST, "not a manifest", REBUILD),)


def test_an_index_of_a_later_version_asks_for_an_update(folder):
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layout": LAYOUT_VERSION + 1}))
    (finding,) = examine(folder).findings
    assert (finding.place, finding.remedy, finding.serious) == (MANIFEST, "update searchlab", True)


def test_an_index_of_other_rules_asks_to_be_made_anew(folder, monkeypatch):
    monkeypatch.setattr(analyzer, "WORD_RULES_VERSION", analyzer.WORD_RULES_VERSION + 1)
    (finding,) = examine(folder).findings
    assert (finding.place, finding.remedy, finding.serious) == (MANIFEST, REBUILD, True)


def put(column, place, value):
    """A change: other numbers at a place of a column."""
    return lambda arrays: arrays[column].__setitem__(place, value)


def add(column, place, amount=1):
    return lambda arrays: arrays[column].__setitem__(place, arrays[column][place] + amount)


def swap(column, one=0, other=1):
    return lambda arrays: arrays[column].__setitem__([one, other], arrays[column][[other, one]])


# Terms in their order: cell, flow, heat, in, of, prison, the, wings; documents a, b, c, d.
ALTERED = {
    "docnos out of order": (put("docnos", 0, ord("z")), "docnos is not distinct strings in the order of their bytes"),
    "docnos not UTF-8": (put("docnos", 3, 0xFF), "docnos is not distinct strings"),
    "docnos' offsets": (put("docnos.offsets", 1, 3), "docnos is not distinct strings"),
    "terms twice": (put("terms", slice(4, 8), [ord(c) for c in "cell"]), "terms is not distinct strings"),
    "words out of order": (put("words", 0, ord("z")), "words is not distinct strings"),
    "word of no term": (put("words.terms", 0, 8), "words.terms names a term that is not there"),
    "offsets not from 0": (put("title.offsets", 0, 1), "title.offsets does not ascend from 0"),
    "offsets that fall": (put("both.offsets", 2, 0), "both.offsets does not ascend from 0"),
    "a document out of range": (put("body.docs", -1, 9), "body.docs is not numbers of documents in ascending order"),
    "documents swapped": (swap("both.docs", 1, 2), "both.docs is not numbers of documents in ascending order"),
    "tf of zero": (put("title.tfs", 0, 0), "title.tfs has a term that occurs not even once"),
    "a wrong tf": (put("body.tfs", 0, 3), "body.tfs does not agree with counts and max_tfs and lengths"),
    "another document": (put("both.docs", 0, 0), "both.docs does not agree with lengths and uniques"),
    "a wrong count": (add("body.counts", 0), "body.counts is not what the postings of body give"),
    "a wrong largest tf": (add("both.max_tfs", -1), "both.max_tfs is not what the postings of both give"),
    "a wrong length": (add("title.lengths", 2), "title.lengths is not what the postings of title give"),
    "lengths swapped": (swap("body.lengths"), "body.lengths is not what the postings of body give"),
    "a wrong number of terms": (add("both.uniques", 0), "both.uniques is not what the postings of both give"),
    "no such dense term": (put("both.dense", -1, 8), "both.dense is not numbers of terms in ascending order"),
    "a wrong bit": (add("both.bits", (0, 0), 8), "both.bits is not the documents of the dense terms of both"),
    "a wrong rank": (add("title.ranks", (0, 0)), "title.ranks is not what title.bits counts"),
    "no such token": (put("tokens", 0, 8), "tokens names a term that is not there"),
    "another token": (put("tokens", 0, 0), "tokens is not the terms that title and both have"),
    "tokens swapped between documents": (swap("tokens", 0, 7), "tokens is not the terms that title and both have"),
    "a token too many": (add("tokens.offsets", 1), "tokens.offsets does not agree with both.lengths"),
    "tokens' offsets": (put("tokens.offsets", 0, 1), "tokens.offsets does not ascend from 0"),
    "a wrong digest": (add("digests", (1, 5)), "digests is not what 'b' has as Whoosh stored it"),
    "digests swapped": (swap("digests", 2, 3), "digests is not what 'c' has as Whoosh stored it"),
    "another letter of a docno": (put("docnos", 3, ord("e")), "document 3 is 'd', but 'e' in the columns"),
    "another letter of a term": (put("terms", 3, ord("m")), "title: 'cell' occurs .* but 'celm' occurs"),
    "a field's name": (put("field.names", 0, ord("n")), "field.names lacks the field of a term or of a value"),
    "a field's words out of order": (put("field.terms", 0, ord("z")), "field.terms is not distinct strings"),
    "a field's postings": (put("field.postings", 1, 0), "field.docs"),
    "a field's document": (put("field.docs", 0, 3), "field.docs and the frequencies beside it are not those of"),
    "a field's tf": (add("field.tfs", 0), "field.docs and the frequencies beside it are not those of field.tokens"),
    "a field's tf of zero": (put("field.tfs", 0, 0), "field.tfs has a term that occurs not even once"),
    "a field's entry": (put("field.entry_docs", 0, 9), "field.entry_docs is not numbers of documents"),
    "a field's entries": (put("field.entries", 0, 1), "field.entries does not ascend from 0"),
    "a field's length": (add("field.entry_lengths", 0), "field.entry_lengths is not what field.tokens counts"),
    "a field's token": (put("field.tokens", 0, 99), "field.tokens names a term that is not there"),
    "a field's tokens' offsets": (put("field.token_offsets", 0, 1), "field.token_offsets does not ascend from 0"),
    "a value's document": (
        put("field.value_docs", 0, 3),
        "field.value_docs has a document that does not have the field",
    ),
    "a number's document": (put("field.number_docs", 0, 3), "field.number_docs has a document that does not have"),
    "a date's document": (put("field.date_docs", 0, 9), "field.date_docs names a document that is not there"),
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
    assert finding.place in {f"{shard}/{part}" for shard in shards_of(folder) for part in (COLUMNS, WHOOSH)}
    assert re.search(problem, finding.problem)


def test_any_altered_number_of_a_column_is_found(folder):
    # Nothing else tells that a word or a value is spelt thus, or which of the documents with a field has it.
    strings = {"words", "field.terms", "field.values"}
    alone = {"words.terms", *strings, *(f"{name}.offsets" for name in strings)}
    alone |= {f"field.{kind}{part}" for kind in ("value", "number", "date") for part in ("s", "_docs", "_offsets")}
    path = folder / shards_of(folder)[0] / COLUMNS
    written = {name: array.copy() for name, array in open_arrays(path).items() if name not in alone}
    n_altered = 0
    for name, array in written.items():
        for place in {0, array.size // 3, array.size // 2, array.size - 1} if array.size else ():
            for bit in (1, 2):
                altered = array.copy()
                altered.reshape(-1)[place] ^= array.dtype.type(bit)
                alter(folder, put(name, ..., altered))
                assert not examine(folder).healthy, (name, place, bit)
                n_altered += 1
        alter(folder, put(name, ..., array))
    assert n_altered > 250
    assert examine(folder).findings == ()


@pytest.mark.parametrize("name", ["tokens", "both.docs", "docnos.offsets", "field.entries", "digests"])
def test_columns_that_do_not_fit_together_are_found(folder, name):
    alter(folder, lambda arrays: arrays.update({name: arrays[name][:-1]}))
    (finding,) = examine(folder).findings
    assert finding.place == f"{shards_of(folder)[0]}/{COLUMNS}"
    assert re.search("fit", finding.problem)
    assert finding.remedy == REBUILD


def test_a_column_that_is_missing_is_found(folder):
    alter(folder, lambda arrays: [arrays.pop("tokens"), arrays.update(other=np.zeros(1))])
    assert examine(folder).findings == (Finding(f"{shards_of(folder)[0]}/{COLUMNS}", "lacks tokens"),)


@pytest.mark.parametrize("kind", [np.float64, "U3"])
def test_a_column_of_another_kind_is_found(folder, kind):
    alter(folder, lambda arrays: arrays.update({"both.docs": arrays["both.docs"].astype(kind)}))
    (finding,) = examine(folder).findings
    assert finding.place == f"{shards_of(folder)[0]}/{COLUMNS}"


def test_fewer_documents_than_the_manifest_says_are_found(folder):
    reseal(folder, n_docs=5)
    assert [finding.problem for finding in examine(folder).findings] == ["4 documents, expected 5"]


@pytest.fixture
def partly_dead(folder):
    """The index with one dead document."""
    delete(folder, ["b"])
    assert read_manifest(folder).shards[0].n_dead == 1
    return folder


@pytest.mark.parametrize(
    ("dead", "problem"),
    [
        ([9], "not a list of dead documents"),
        ([0, 1], "2 dead documents, expected 1"),
        ([], "0 dead documents, expected"),
    ],
)
def test_a_wrong_list_of_the_dead_is_found(partly_dead, dead, problem):
    record = read_manifest(partly_dead).shards[0]
    other = bury(partly_dead / record.name, record, np.array(dead, np.int64))
    commit(partly_dead, read_manifest(partly_dead).next([replace(other, n_dead=1)]))
    (finding,) = examine(partly_dead).findings
    assert finding.place == f"{record.name}/{other.dead}"
    assert problem in finding.problem


def test_a_damaged_list_of_the_dead_is_found(partly_dead):
    record = read_manifest(partly_dead).shards[0]
    path = partly_dead / record.name / record.dead
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert [finding.place for finding in examine(partly_dead).findings] == [f"{record.name}/{record.dead}"]


def test_a_document_that_is_alive_in_two_shards_is_found(build, folder, tmp_path):
    other = build([Document("c", "again"), Document("b", "again"), Document("e", "new")], folder=tmp_path / "other")
    (twin,) = read_manifest(other).shards
    shutil.copytree(other / twin.name, folder / twin.name)
    manifest = read_manifest(folder)
    commit(folder, manifest.next([*manifest.shards, twin]))
    expected = Finding(twin.name, "2 documents are alive in other shards too, such as 'b'")
    assert examine(folder).findings == (expected,)


def test_a_document_that_is_dead_in_one_shard_may_live_in_another(build, folder):
    build([Document("c", "again")], folder=folder, rebuild=False)
    assert [record.n_dead for record in read_manifest(folder).shards] == [1, 0]
    assert examine(folder).findings == ()


def rewrite_whoosh(folder, *, documents=DOCUMENTS, terms=None, change=None):
    """Write the Whoosh side of the first shard again from the columns, with something changed, and seal it."""
    (shard,) = Snapshot(folder).shards
    inverted, lengths = {}, {}
    for name in ("title", "body"):
        stream = shard.columns.streams[name]
        inverted[name] = Inverted(
            stream.offsets.copy(),
            stream.docs.copy(),
            stream.tfs.astype(np.uint32),
            np.zeros(stream.tfs.sum(), np.uint32),
        )
        lengths[name] = stream.lengths
    if change is not None:
        change(inverted["body"])
    shard.close()
    shutil.rmtree(shard.folder / WHOOSH)
    names = list(shard.columns.terms) if terms is None else terms
    write_whoosh(shard.folder / WHOOSH, read_manifest(folder).settings, documents, names, inverted, lengths)
    reseal(folder)
    return f"{shard.folder.name}/{WHOOSH}"


def test_whoosh_written_again_from_the_columns_is_healthy(folder):
    rewrite_whoosh(folder)
    assert examine(folder).findings == ()


def test_a_posting_that_whoosh_has_otherwise_is_found(folder):
    # Body: "flow" occurs in c twice, "heat" in a twice, "the" in b twice, "wings" in a and in c. By document and
    # weight the postings of "wings" are (0, 1), (2, 1): as (1, 1), (2, 1) they have the same statistics.
    (shard,) = Snapshot(folder).shards
    wings = int(shard.columns.streams["body"].offsets[shard.columns.terms.find("wings")])
    place = rewrite_whoosh(folder, change=lambda body: body.docs.__setitem__(wings, 1))
    problem = "body: other postings of 'wings' than in the columns"
    assert examine(folder).findings == (Finding(place, problem, ONLY_SHOWN),)


def test_a_weight_that_whoosh_has_otherwise_is_found(folder):
    place = rewrite_whoosh(folder, change=lambda body: body.tfs.__setitem__(0, 1))
    problem = "body: 'cell' occurs 1 times in 1 documents, but 'cell' occurs 2 times in 1 documents in the columns"
    assert examine(folder).findings == (Finding(place, problem, ONLY_SHOWN),)


def test_a_term_that_whoosh_lacks_or_has_alone_is_found(folder):
    terms = ["cell", "flow", "heat", "in", "of", "prison", "the", "zings"]
    rewrite_whoosh(folder, terms=terms)
    (finding,) = examine(folder).findings
    assert finding.problem.startswith("body: 'zings' occurs 2 times in 2 documents, but 'wings' occurs")


def test_a_stored_document_that_differs_is_found(folder):
    rewrite_whoosh(folder, documents=[*DOCUMENTS[:3], replace(DOCUMENTS[3], title="otherwise")])
    (finding,) = examine(folder).findings
    assert finding.problem == "digests is not what 'd' has as Whoosh stored it"


def test_a_stored_document_of_another_name_is_found(folder):
    place = rewrite_whoosh(folder, documents=[*DOCUMENTS[:3], replace(DOCUMENTS[3], docno="x")])
    problem = "document 3 is 'x', but 'd' in the columns"
    assert examine(folder).findings == (Finding(place, problem, ONLY_SHOWN),)


def test_whoosh_of_another_index_is_found(build, folder):
    (other,) = build(DOCUMENTS[:3]).glob("shard-*")
    shard = folder / shards_of(folder)[0]
    shutil.rmtree(shard / WHOOSH)
    shutil.copytree(other / WHOOSH, shard / WHOOSH)
    reseal(folder)
    assert [finding.problem for finding in examine(folder).findings] == ["3 documents, but 4 in the columns"]


def test_whoosh_that_cannot_be_read_is_found(folder):
    (postings,) = folder.glob(f"shard-*/{WHOOSH}/*.pst")
    postings.write_bytes(b"x" * postings.stat().st_size)
    reseal(folder)
    (finding,) = examine(folder).findings
    assert finding.place == f"{shards_of(folder)[0]}/{WHOOSH}"
    assert "cannot be read" in finding.problem


def test_with_a_flipped_bit_in_whoosh_searching_still_works(folder):
    expected = SearchEngine(folder).search("wings").docnos
    assert expected
    paths = [path for path in folder.glob(f"shard-*/{WHOOSH}/*") if path.stat().st_size]
    for path in paths:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert [finding.remedy for finding in examine(folder).findings] == [ONLY_SHOWN] * len(paths)
    assert SearchEngine(folder).search("wings").docnos == expected


def test_of_many_postings_some_are_drawn(build, monkeypatch):
    folder = build([Document(f"d{n}", f"t{n % 7}", f"w{n % 50} x{n} all") for n in range(200)], words_per_shard=300)
    whole = examine(folder)
    assert whole.n_compared == whole.n_postings == 200 * 4
    monkeypatch.setattr(index_doctor, "MOST_COMPARED", 500)
    monkeypatch.setattr(index_doctor, "DRAWN", 300)
    drawn = examine(folder)
    assert drawn.findings == ()
    assert drawn.n_postings == 800
    assert 300 <= drawn.n_compared < 800
    assert examine(folder) == drawn


def test_texts_longer_than_a_piece_are_compared_whole(folder, monkeypatch):
    monkeypatch.setattr(column_checks, "PIECE", 3)
    assert examine(folder).findings == ()
    alter(folder, swap("tokens", -1, 0))
    assert [finding.problem for finding in examine(folder).findings] == [
        "tokens is not the terms that title and both have"
    ]


def test_what_is_examined_is_held_and_then_let_go(folder):
    shard = folder / shards_of(folder)[0]

    def hold_alone(stage, done, total):
        with pytest.raises(BlockingIOError):
            lock_shard(shard, exclusive=True)

    examine(folder, hold_alone)
    os.close(lock_shard(shard, exclusive=True))


def test_an_index_that_is_made_anew_while_it_is_opened_is_examined_anew(build, folder, monkeypatch):
    calls = []

    def read_and_rebuild(where):
        manifest = read_manifest(where)
        if not calls:
            calls.append(where)
            build([Document("new", "", "words")], folder=folder)
        return manifest

    monkeypatch.setattr(index_doctor, "read_manifest", read_and_rebuild)
    diagnosis = examine(folder)
    assert (diagnosis.findings, diagnosis.n_docs) == ((), 1)


def test_a_list_of_the_dead_that_a_commit_replaces_meanwhile_is_no_finding(partly_dead):
    def delete_more(stage, done, total):
        if read_manifest(partly_dead).n_docs == 3:
            delete(partly_dead, ["c"])

    diagnosis = examine(partly_dead, delete_more)
    assert (diagnosis.findings, diagnosis.n_docs) == ((), 2)


def test_a_finding_reads_as_a_line():
    assert str(Finding("a/b", "missing", "remove it")) == "a/b: missing; remove it"
