"""An index built on a cluster has the documents, statistics and scores of one built on one machine."""

import gzip
import json

import pytest

import searchlab
from searchlab.errors import DuplicateError, RecordError, SettingError, SourceError
from searchlab.indexing.parts import cluster_build
from tests.index_comparison import Listener, assert_same, content, json_lines


@pytest.fixture
def index_both(tmp_path, cluster, monkeypatch):
    """Index sources on one machine and on the cluster; returns the content of both and their summaries and notes."""
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 500)

    def index(sources, **options):
        results = []
        for name, where in (("one", {}), ("many", {"cluster": cluster})):
            notes = searchlab.ReadingNotes()
            summary = searchlab.index(sources, tmp_path / name, notes=notes, **where, **options)
            results.append((content(tmp_path / name), summary, notes))
        folders = {path.name for path in (tmp_path / "many").glob("shard-*")}
        with searchlab.open(tmp_path / "many") as engine:
            assert folders == {shard.folder.name for shard in engine.snapshot.shards}
        return results

    return index


def test_a_large_file_becomes_shards_of_several_workers(tmp_path, index_both, documents):
    (tmp_path / "docs.jsonl").write_text(json_lines(documents))
    assert_same(*index_both([tmp_path / "docs.jsonl"]))


# As many as three workers, and more, would make.
@pytest.mark.parametrize("parts_per_worker", [1, 3, 8])
def test_a_folder_of_all_kinds_of_files(tmp_path, index_both, documents, monkeypatch, parts_per_worker):
    monkeypatch.setattr(cluster_build, "PARTS_PER_WORKER", parts_per_worker)
    source = tmp_path / "source"
    source.mkdir()
    lines = json_lines(documents[:100]).encode().splitlines()
    lines[40], lines[41], lines[60] = (
        b"bad",
        b"\x1f\x8b\x08 no gzip",
        b'{"docno": "long", "body": "%s"}' % (b"word1 " * 900),
    )
    (source / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*lines, lines[3]]))
    (source / "b.jsonl.gz").write_bytes(gzip.compress(json_lines(documents[100:150]).encode()))
    trec = "".join(f"<DOC>\n<DOCNO>{d.docno}</DOCNO>\n<TEXT>\n{d.body}\n</TEXT>\n</DOC>\n" for d in documents[150:250])
    (source / "c.trec").write_text(trec.replace("</DOC>\n", "</DOC>\n<unclosed\n", 1) + "stray\n", newline="\r\n")
    rows = "".join(f'{d.docno},"{d.title}","{d.body}\n{d.body}"\n' for d in documents[250:])
    (source / "d.csv").write_text("\ufeffdocno,title,text\n" + rows + "too,few\nlast,row,without end", newline="\r\n")
    for number in range(20):
        (source / f"e{number}.txt").write_bytes(f"Title {number}\nword{number} caf\xe9".encode("latin-1"))
    (source / "f.bin").write_bytes(b"\0\1\2")
    (source / "g.jsonl").write_bytes(b"")
    one, many = index_both([source], on_duplicate="keep-all")
    assert [str(each).rpartition("/")[2].split(": ")[0] for each in one[2].bad_records] == [
        *("a.jsonl:41", "a.jsonl:42", "c.trec:602", "d.csv:162")
    ]
    assert_same(one, many)


@pytest.mark.parametrize("rule", ["keep-all", "keep-first", "keep-last"])
def test_documents_of_one_docno_in_different_parts(tmp_path, index_both, documents, rule):
    changed = [searchlab.Document(each.docno, each.title, "word1 other") for each in documents[::9]]
    (tmp_path / "docs.jsonl").write_text(json_lines([*documents, *documents[::7], *changed, *changed[:3]]))
    one, many = index_both([tmp_path / "docs.jsonl"], on_duplicate=rule)
    assert one[1].n_duplicates > 30
    assert_same(one, many)


def test_documents_of_one_docno_can_be_refused(tmp_path, documents, cluster, monkeypatch):
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 500)
    (tmp_path / "docs.jsonl").write_text(json_lines([*documents, documents[0]]))
    with pytest.raises(DuplicateError, match=r"docs.jsonl:331: docno 'd000' was read already at .*docs.jsonl:1;"):
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / "many", on_duplicate="error", cluster=cluster)
    assert not (tmp_path / "many").exists()


@pytest.mark.parametrize("deduplicate", [False, True])
def test_records_of_one_publication_in_different_parts(tmp_path, index_both, documents, deduplicate):
    records = [
        searchlab.Document(f"{copy}-{each.docno}", each.title, f"{each.body} {copy}", {"doi": f"10.1/{each.docno}"})
        for copy in ("a", "b")
        for each in documents[:100]
    ]
    (tmp_path / "docs.jsonl").write_text(json_lines(records))
    one, many = index_both([tmp_path / "docs.jsonl"], deduplicate=deduplicate)
    assert one[1].n_docs == (100 if deduplicate else 200)
    assert_same(one, many, min_shards=2)


def test_an_update_writes_what_has_changed(tmp_path, index_both, documents):
    path = tmp_path / "docs.jsonl"
    path.write_text(json_lines(documents))
    index_both([path])
    changed = [searchlab.Document(each.docno, "", "word1 changed") for each in documents[40:60]]
    new = [searchlab.Document(f"new{number}", "", f"word{number}") for number in range(5)]
    path.write_text(json_lines([*documents[:40], *changed, *documents[100:], *new]))
    one, many = index_both([path], prune=True)
    assert (one[1].n_updated, one[1].n_added, one[1].n_removed) == (20, 5, 40)
    assert_same(one, many)
    again = index_both([path], prune=True)
    assert (again[1][1].n_unchanged, again[1][1].n_updated) == (295, 0)
    assert_same(*again)


def test_languages_are_detected_as_on_one_machine(tmp_path, index_both):
    texts = ["The cells of the lung are small and round.", "Die Zellen der Lunge sind klein und rund."]
    lines = [json.dumps({"docno": f"d{n}", "body": f"{texts[n % 2]} word{n % 5}"}) for n in range(60)]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines))
    one, many = index_both([tmp_path / "docs.jsonl"], language="english,german")
    assert one[1].languages == many[1].languages == {"english": 30, "german": 30}
    assert_same(one, many)


def test_n_grams_are_indexed_too(tmp_path, index_both, documents):
    (tmp_path / "docs.jsonl").write_text(json_lines(documents[:50]))
    assert_same(*index_both([tmp_path / "docs.jsonl"], ngrams=3))


def test_all_events_are_passed_on(tmp_path, cluster, documents, monkeypatch):
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 500)
    lines = json_lines(documents).splitlines()
    lines[50] = lines[150] = "bad"
    (tmp_path / "docs.jsonl").write_bytes("\n".join([*lines, lines[0]]).encode() + b'\n{"docno": "x\xe9"}\n')
    events = []
    for name, where in (("one", None), ("many", cluster)):
        notes = searchlab.ReadingNotes(listener=Listener())
        searchlab.index(tmp_path / "docs.jsonl", tmp_path / name, cluster=where, notes=notes)
        events.append(sorted(map(str, notes.listener)))
    assert len(events[0]) == 5
    assert events[0] == events[1]


@pytest.mark.parametrize(
    ("sources", "options", "error", "message"),
    [
        (["-"], {}, SettingError, "standard input"),
        (["ir_datasets:vaswani"], {}, SettingError, "cannot be read on a cluster"),
        (["missing.jsonl"], {}, SourceError, "missing.jsonl"),
        (["bad.jsonl"], {"strict": True}, RecordError, "bad.jsonl:41: expected a JSON object"),
        (["bad.jsonl"], {"fields": {"title": "Heading"}}, SourceError, "no table has the column Heading"),
        (["bad.jsonl"], {"on_duplicate": "guess"}, SettingError, "unknown rule"),
        (["bad.jsonl"], {"format": "guess"}, SettingError, "unknown format"),
        (["empty.jsonl"], {}, SourceError, "holds no documents; 2 bad records, first"),
        ([[{"docno": "a"}]], {}, SettingError, "given as values"),
    ],
)
def test_what_is_wrong_is_reported_as_on_one_machine(tmp_path, cluster, monkeypatch, sources, options, error, message):
    monkeypatch.setattr(cluster_build, "MIN_PART_BYTES", 500)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"docno": "a", "body": "x"}\n' * 40 + "bad\n" + "worse\n" * 40)
    (tmp_path / "empty.jsonl").write_text('{"no": 1}\n{"no": 2}\n')
    given = sources[0] if isinstance(sources[0], list) else sources
    with pytest.raises(error, match=message):
        searchlab.index(given, tmp_path / "many", cluster=cluster, **options)
    assert not (tmp_path / "many").exists()


def test_shards_of_lost_tasks_are_swept(tmp_path, cluster, documents):
    (tmp_path / "docs.jsonl").write_text(json_lines(documents[:20]))
    leftover = tmp_path / "many" / "shard-0000-1-lost"
    leftover.mkdir(parents=True)
    (leftover / "columns").write_text("half")
    searchlab.index(tmp_path / "docs.jsonl", tmp_path / "many", cluster=cluster)
    assert not leftover.exists()


def test_relative_paths_are_those_of_the_client(tmp_path, cluster, documents, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text(json_lines(documents[:20]))
    searchlab.index("docs.jsonl", "./many", cluster=cluster)
    assert searchlab.examine(tmp_path / "many").n_docs == 20
    searchlab.merge("./many", cluster=cluster)
    with searchlab.open("./many") as engine:
        assert len(engine.search_many({"1": documents[0].body}, cluster=cluster).docnos)


def test_merging_on_a_cluster_keeps_all_documents(tmp_path, cluster, documents, build):
    folder = build(documents, folder=tmp_path / "it", words_per_shard=600)
    searchlab.delete(folder, [each.docno for each in documents[::6]])
    before = content(folder)
    summary = searchlab.merge(folder, cluster=cluster)
    assert (summary.n_shards, summary.n_deleted) == (2, 0)
    assert content(folder) == before


def test_parts_are_full_shards_or_a_few_for_each_worker():
    assert cluster_build.choose_part_bytes(1 << 40, 8) == cluster_build.MAX_PART_BYTES
    assert cluster_build.choose_part_bytes(1000, 8) == cluster_build.MIN_PART_BYTES
    assert cluster_build.choose_part_bytes(400 << 20, 2) == (100 << 20) + 1
