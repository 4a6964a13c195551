"""After a malformed record reading continues if the caller allows it."""

import pytest

from searchlab.corpus import DOCUMENT_FORMATS, ReadingNotes, read_documents
from searchlab.corpus.extraction.formats import EXTRACTED_FORMATS
from searchlab.errors import RecordError, SourceError

# For each format a file of bad records between two good ones, called 1 and 2, and the lines of the bad ones.
TROUBLED = {
    "jsonl": ('{"id": 1}\nwords\n{"id": "a b"}\n{"id": 3, "text": {}}\n{"id": 2}\n', [2, 3, 4]),
    "json": ('[{"id": 1},\nwords,\n{"id": "a b"}, {"id": },\n[7],\n{"id": 2}]\n{', [2, 3, 3, 4, 6]),
    "wos": ("words\nPT J\nUT 1\nER\nTI x\nPT B\nPT J\nUT 2\nER\nPT P", [1, 5, 6, 10]),
    "endnote": (
        "<xml><records>\n<record><accession-num>1</accession-num></record>\n"
        "<record><accession-num>2</accession-num></record>\n&",
        [4],
    ),
    "embase": ('"PUI","1"\n\n"PUI","7"\n"TITLE","x"y\n\n"PUI","2"\n\n"PUI","8', [4, 8]),
    "csv": ('id,text\n1,x\n2\n"3,y\n4,"y"z\n2,x\n5,"open\n', [3, 4, 5, 7]),
    "tsv": ("id\ttext\n1\tx\na b\tx\n\tx\n2\tx\n", [3, 4]),
    "trec": (
        "<DOC><DOCNO>1</DOCNO></DOC>\nstray\nwords</DOC>\n<DOC>no name</DOC>\n<DOC>open\n"
        "<DOC><DOCNO>2</DOCNO></DOC>\n<DOC>",
        [2, 4, 5, 7],
    ),
    "smart": ("stray\nwords\n.I 1\n.W\nx\n.I\n.W\ny\n.I a b\n.I 2\n", [1, 6, 9]),
    "ohsumed": (".I 7\n.U\n1\n.I 8\n.T\nx\n.I 9\n.U\na b\n.I 10\n.U\n2\n", [4, 7]),
    "ohsumed-i": (".I 1\n.U\n7\n.I\n.U\n8\n.I 2\n.U\n9\n", [4]),
    "nbib": ("TI  - x\nTI  - y\nPMID- 1\nPMID- 7\nstray\nTI  - x\nPMID- \nPMID- 2\nTI  - x\n", [1, 5, 7]),
    "ris": ("words\nTY  - A\nAN  - 1\nER  - \nTI  - x\nTY  - B\nTY  - C\nAN  - 2\nER  -\nTY  - D", [1, 5, 6, 10]),
    "bibtex": (
        '@a{1}\n@a{a b}\n@a{7, x}\n@a{8, t = }\n@a{9, t = "}\n@a(7, x)\n@a{10,\n@a{2}\n@a{',
        [2, 3, 4, 5, 6, 7, 9],
    ),
    "pubmed": (
        "<PubmedArticleSet>\n<PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>\n"
        "<PubmedArticle/>\n<PubmedArticle><MedlineCitation><PMID>2</PMID></MedlineCitation></PubmedArticle>\n&",
        [3, 5],
    ),
}
WHOLE_FILES = {"html", "markdown", "text"}


def test_every_format_of_records_is_tried():
    assert {*TROUBLED, *WHOLE_FILES, *EXTRACTED_FORMATS} == set(DOCUMENT_FORMATS)


@pytest.mark.parametrize("format", TROUBLED)
def test_bad_records_are_noted_and_the_next_ones_read(write, format):
    content, bad_lines = TROUBLED[format]
    path = write("file", content)
    notes = ReadingNotes()
    documents = list(read_documents(path, format=format, notes=notes, strict=False))
    assert [document.docno for document in documents] == ["1", "2"]
    assert sorted(error.location for error in notes.bad_records) == sorted(f"{path}:{line}" for line in bad_lines)
    assert notes.n_bad == len(bad_lines)
    assert notes.n_documents == 2


@pytest.mark.parametrize("format", TROUBLED)
def test_strict_reading_ends_at_the_first_bad_record(write, format):
    content, bad_lines = TROUBLED[format]
    path = write("file", content)
    notes = ReadingNotes()
    with pytest.raises(RecordError) as caught:
        list(read_documents(path, format=format, notes=notes))
    assert caught.value.location == f"{path}:{bad_lines[0]}"
    assert (notes.n_bad, notes.bad_records) == (0, [])


def test_only_the_first_twenty_errors_are_kept_but_all_are_counted(write):
    path = write("docs.jsonl", '{"id": 1}\n' + "words\n" * 50)
    notes = ReadingNotes()
    assert len(list(read_documents(path, notes=notes, strict=False))) == 1
    assert (notes.n_bad, len(notes.bad_records)) == (50, 20)
    assert str(notes.bad_records[0]) == (
        f"{path}:2: expected a JSON object, found invalid JSON (Expecting value at column 1)"
    )
    # An error with its traceback would keep the records themselves in memory.
    assert all(error.__traceback__ is None and error.__context__ is None for error in notes.bad_records)
    notes.clear()
    assert notes == ReadingNotes()


def test_a_source_of_nothing_but_bad_records_is_refused_with_the_first(write, message, tmp_path):
    path = write("docs.jsonl", '{"id": "a b"}\nwords\n')
    expected = f"holds no documents; 2 bad records, first {path}:1: expected a docno without blanks, found 'a b'"
    assert message(SourceError, read_documents, path, strict=False) == f"{path}: {expected}"
    skipped = f"1 of its files skipped, first {path} (no documents); 2 bad records"
    expected = expected.replace("2 bad records", skipped)
    assert message(SourceError, read_documents, tmp_path, strict=False) == f"{tmp_path}: {expected}"


def test_a_folder_is_read_on_after_a_file_of_bad_records(write, tmp_path):
    write("a.jsonl", '{"a": 1}\n')
    write("b.jsonl", '{"id": 1}\n')
    notes = ReadingNotes()
    assert len(list(read_documents(tmp_path, notes=notes, strict=False))) == 1
    assert [skipped.reason for skipped in notes.skipped] == ["no documents"]
    assert notes.n_bad == 1
