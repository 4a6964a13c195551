"""An index whose documents were read by several processes is that of one process: documents, scores and notes."""

import json
import os
import random
import signal

import pytest

import searchlab
from searchlab.corpus import document_parts
from searchlab.errors import DuplicateError, RecordError, SourceError, WriteFailed
from searchlab.indexing.building.local_build import LocalBuild
from searchlab.indexing.parts import process_build
from searchlab.indexing.storage.layout import COLUMNS
from searchlab.indexing.storage.manifest import read_index_manifest
from searchlab.records import Document
from tests.index_comparison import Listener, assert_same, content, json_lines

PART_BYTES = 500


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """Documents of few words, so that many scores are equal."""
    draw = random.Random(7)
    words = [f"word{number}" for number in range(60)]
    return [
        Document(f"d{number:03}", draw.choice(words), " ".join(draw.choices(words, k=draw.randint(1, 12))))
        for number in range(120)
    ]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Divide small files, too."""
    monkeypatch.setattr(process_build, "PART_BYTES", PART_BYTES)
    monkeypatch.setattr(document_parts, "MIN_DETECTED_BYTES", 1)


@pytest.fixture
def divided(monkeypatch):
    """Fail where the documents are read by one process."""

    def refuse(self, *arguments, **options):
        if self.jobs > 1:
            raise AssertionError("read by one process")
        return write(self, *arguments, **options)

    write = LocalBuild.write
    monkeypatch.setattr(LocalBuild, "write", refuse)


@pytest.fixture
def index_both(tmp_path):
    """Index sources with one process and with three; returns the content of both and their summaries and notes."""

    def index(sources, **options):
        results = []
        for name, jobs in (("one", 1), ("three", 3)):
            notes = searchlab.ReadingNotes()
            summary = searchlab.index(sources, tmp_path / name, notes=notes, jobs=jobs, **options)
            results.append((content(tmp_path / name), summary, notes))
        return results

    return index


@pytest.mark.usefixtures("divided")
def test_a_large_file_is_read_by_several_processes(tmp_path, index_both, documents):
    (tmp_path / "docs.jsonl").write_text(json_lines(documents) + "bad\n\n" + json_lines([Document("last")]).strip())
    one, three = index_both([tmp_path / "docs.jsonl"])
    assert_same(one, three)
    assert three[1].n_shards == 3


@pytest.mark.usefixtures("divided")
def test_a_folder_of_files_that_can_be_divided_and_some_others(tmp_path, index_both, documents):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.jsonl").write_bytes(json_lines(documents[:50]).replace("\n", "\r\n").encode("utf-8-sig"))
    trec = "".join(f"<DOC>\n<DOCNO>{d.docno}</DOCNO>\n<TEXT>\n{d.body}\n</TEXT>\n</DOC>\n" for d in documents[50:])
    (source / "b.trec").write_text(trec + "stray\n")
    (source / "c.txt").write_bytes("Title\ncafé".encode("latin-1"))
    (source / "d.bin").write_bytes(b"\0\1\2")
    assert_same(*index_both([source]))


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("rule", ["keep-all", "keep-first"])
def test_documents_of_one_docno_in_different_parts(tmp_path, index_both, documents, rule):
    changed = [Document(each.docno, each.title, "word1 other") for each in documents[::9]]
    (tmp_path / "docs.jsonl").write_text(json_lines([*documents, *documents[::7], *changed, *changed[:3]]))
    one, three = index_both([tmp_path / "docs.jsonl"], on_duplicate=rule)
    assert one[1].n_duplicates > 15
    assert_same(one, three)


def test_the_last_of_several_documents_is_kept(tmp_path, index_both, documents):
    changed = [Document(each.docno, each.title, "word1 other") for each in documents[::9]]
    (tmp_path / "docs.jsonl").write_text(json_lines([*documents, *changed]))
    assert_same(*index_both([tmp_path / "docs.jsonl"], on_duplicate="keep-last"), min_shards=1)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("deduplicate", [False, True])
def test_records_of_one_publication_in_different_parts(tmp_path, index_both, documents, deduplicate):
    records = [
        Document(f"{copy}-{each.docno}", each.title, f"{each.body} {copy}", {"doi": f"10.1/{each.docno}"})
        for copy in ("a", "b")
        for each in documents
    ]
    (tmp_path / "docs.jsonl").write_text(json_lines([*documents[:40], *records]))
    one, three = index_both([tmp_path / "docs.jsonl"], deduplicate=deduplicate)
    assert one[1].n_docs == 40 + 120 * (2 - deduplicate)
    assert_same(one, three)


@pytest.mark.usefixtures("divided")
def test_copies_with_fields_are_told_from_other_contents(tmp_path, index_both, documents):
    with_fields = [Document(each.docno, each.title, each.body, {"kind": "a"}) for each in documents[:30]]
    again = [*with_fields[:20], *documents[10:30]]
    (tmp_path / "docs.jsonl").write_text(json_lines([*with_fields, *documents[30:], *again]))
    one, three = index_both([tmp_path / "docs.jsonl"])
    assert (one[1].n_docs, one[1].n_duplicates) == (140, 20)
    assert_same(one, three)


@pytest.mark.usefixtures("divided")
def test_languages_are_detected_by_each_process(tmp_path, index_both):
    texts = ["The cells of the lung are small and round.", "Die Zellen der Lunge sind klein und rund."]
    lines = [json.dumps({"docno": f"d{n}", "body": f"{texts[n % 2]} word{n % 5}"}) for n in range(60)]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines))
    one, three = index_both([tmp_path / "docs.jsonl"], language="english,german", ngrams=3)
    assert one[1].languages == three[1].languages == {"english": 30, "german": 30}
    assert_same(one, three)


@pytest.mark.usefixtures("divided")
def test_all_events_are_passed_on_in_their_order(tmp_path, documents):
    lines = json_lines(documents).splitlines()
    lines[50] = lines[100] = "bad"
    (tmp_path / "docs.jsonl").write_bytes("\n".join([*lines, lines[0]]).encode() + b'\n{"docno": "x\xe9"}\n')
    events = []
    for name, jobs in (("one", 1), ("three", 3)):
        notes = searchlab.ReadingNotes(listener=Listener())
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / name, jobs=jobs, notes=notes)
        events.append(sorted(map(str, notes.listener)))
    assert len(events[0]) == 5
    assert events[0] == events[1]


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("bad\n", {"strict": True}, RecordError, r"docs.jsonl:61: expected a JSON object"),
        ('{"docno": "d000"}\n', {"on_duplicate": "error"}, DuplicateError, r"jsonl:61: docno 'd000' was .*jsonl:1;"),
        ("", {"fields": {"title": "Heading"}}, SourceError, "no table has the column Heading"),
    ],
)
def test_the_first_error_is_raised_and_nothing_is_left(tmp_path, documents, text, options, error, message):
    worse = "worse\n" * 40 * (error is RecordError)
    (tmp_path / "docs.jsonl").write_text(json_lines(documents[:60]) + text + json_lines(documents[60:]) + worse)
    with pytest.raises(error, match=message):
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / "index", jobs=3, **options)
    assert not (tmp_path / "index").exists()


@pytest.mark.usefixtures("divided")
def test_a_source_without_documents_is_an_error(tmp_path):
    (tmp_path / "empty.jsonl").write_text('{"no": 1}\n' * 200)
    with pytest.raises(SourceError, match="holds no documents; 200 bad records, first"):
        searchlab.index(tmp_path / "empty.jsonl", tmp_path / "index", jobs=2)
    assert not (tmp_path / "index").exists()


@pytest.mark.usefixtures("divided")
def test_a_process_that_is_killed_is_an_error_and_leaves_nothing(tmp_path, documents, monkeypatch):
    def keep_and_kill(self, changed):
        keep(self, changed)
        os.kill(self._processes[1]._process.pid, signal.SIGKILL)

    keep = process_build.Workers.keep
    monkeypatch.setattr(process_build.Workers, "keep", keep_and_kill)
    (tmp_path / "docs.jsonl").write_text(json_lines(documents))
    with pytest.raises(WriteFailed, match="an indexing process died"):
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / "index", jobs=2)
    assert not (tmp_path / "index").exists()


@pytest.mark.usefixtures("divided")
def test_an_interrupt_ends_the_processes_and_leaves_nothing(tmp_path, documents, monkeypatch):
    def start(self, *arguments):
        started.append(self)
        initialise(self, *arguments)

    started, initialise = [], process_build.Workers.__init__
    monkeypatch.setattr(process_build.Workers, "__init__", start)

    def interrupt(phase, n_done, total):
        raise KeyboardInterrupt

    (tmp_path / "docs.jsonl").write_text(json_lines(documents))
    with pytest.raises(KeyboardInterrupt):
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / "index", jobs=2, progress=interrupt)
    assert not (tmp_path / "index").exists()
    assert [each._process.returncode for each in started[0]._processes] == [-signal.SIGKILL] * 2


@pytest.mark.usefixtures("divided")
def test_the_same_documents_are_in_the_same_shards_each_time(tmp_path, documents):
    (tmp_path / "docs.jsonl").write_text(json_lines(documents))
    records = []
    for name in ("a", "b"):
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / name, jobs=2)
        records.append([(each.n_docs, each.files[COLUMNS]) for each in read_index_manifest(tmp_path / name).shards])
    assert records[0] == records[1]
    assert len(records[0]) == 2


def test_an_update_is_compared_with_what_is_there(tmp_path, index_both, documents):
    path = tmp_path / "docs.jsonl"
    path.write_text(json_lines(documents))
    index_both([path])
    path.write_text(json_lines([*documents[20:], Document("new", "", "word1")]))
    one, three = index_both([path], prune=True)
    assert (three[1].n_added, three[1].n_unchanged, three[1].n_removed) == (1, 100, 20)
    assert_same(one, three, min_shards=1)
