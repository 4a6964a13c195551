"""Document formats that a user registers: detected, chosen by name, and mistakes reported by name."""

import gzip

import pytest

import searchlab
from searchlab.corpus.custom_formats import document_format
from searchlab.errors import RecordError, SettingError, SourceError
from searchlab.records import Document

pytestmark = pytest.mark.usefixtures("registered_here")


@pytest.fixture
def pairs():
    @document_format("pairs", "docno|text", suffixes=[".Pairs"], recognises=lambda opened: opened.head[:2] == "%P")
    def read_pairs(opened):
        for _, line in opened.lines():
            if not line.startswith("%"):
                docno, text = line.split("|")
                yield {"docno": docno, "body": text, "length": len(text)}


def read(path, **options):
    return [(each.docno, each.body) for each in searchlab.read_documents(path, **options)]


def test_a_format_is_detected_by_suffix_or_content_and_chosen_by_name(pairs, tmp_path):
    text = "a|one two\nb|three\n"
    expected = [("a", "one two"), ("b", "three")]
    (tmp_path / "x.pairs").write_text(text)
    (tmp_path / "z.pairs.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "y.txt").write_text("%P\n" + text)
    (tmp_path / "w.txt").write_text(text)
    for name in ("x.pairs", "z.pairs.gz", "y.txt"):
        assert read(tmp_path / name) == expected
    assert read(tmp_path / "w.txt") != expected
    assert read(tmp_path / "w.txt", format="pairs") == expected
    (first, _) = searchlab.read_documents(tmp_path / "x.pairs")
    assert first == Document("a", "", "one two", {"length": 7})
    assert first.location.endswith("x.pairs: document 1")


def test_a_bad_document_is_noted_or_stops_the_reading(pairs, tmp_path):
    path = tmp_path / "x.pairs"
    path.write_text("a|one\nb c|two\nd|three\n")
    notes = searchlab.ReadingNotes()
    assert read(path, strict=False, notes=notes) == [("a", "one"), ("d", "three")]
    assert [error.message for error in notes.bad_records] == ["expected a docno without blanks, found 'b c'"]
    with pytest.raises(RecordError, match=r"x\.pairs: document 2: expected a docno without blanks"):
        read(path)


def test_documents_may_be_values_in_a_list(tmp_path):
    @document_format("whole", "one document a file")
    def read_whole(opened):
        return [Document("it", "", " ".join(opened.whole()))]

    (tmp_path / "x.any").write_text("a\nb\n")
    assert read(tmp_path / "x.any", format="whole") == [("it", "a b")]


def test_a_damaged_file_is_not_the_fault_of_the_format(pairs, tmp_path):
    (tmp_path / "z.pairs.gz").write_bytes(gzip.compress(b"a|one\n" * 9000)[:-20])
    with pytest.raises(SourceError, match="damaged gzip file"):
        read(tmp_path / "z.pairs.gz")


def fails(opened):
    raise KeyError("nothing")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fails, r"x\.any: document format mine failed: KeyError: 'nothing' \(test_custom_formats\.py, line \d+\)"),
        (lambda opened: None, r"x\.any: document format mine returned NoneType, expected documents: dicts or"),
        (lambda opened: {"docno": "a"}, r"x\.any: document format mine returned dict, expected documents: dicts or"),
        (lambda opened: ["a"], r"x\.any: document 1: expected a dict or a Document, found "),
        (lambda opened: [{"body": "a"}], r"x\.any: document 1: expected a docno \(one of "),
        (lambda: ["a"], r"x\.any: document format mine failed: TypeError: "),
    ],
)
def test_mistakes_of_an_author_are_reported_with_file_and_name(tmp_path, function, message):
    document_format("mine", "wrong")(function)
    (tmp_path / "x.any").write_text("a\n")
    with pytest.raises(searchlab.SearchlabError, match=message):
        read(tmp_path / "x.any", format="mine")


def test_a_failing_recogniser_is_reported(tmp_path):
    document_format("mine", "wrong", recognises=fails)(lambda opened: [])
    (tmp_path / "x.any").write_text("a\n")
    with pytest.raises(SettingError, match=r"x\.any: document format mine failed: KeyError"):
        read(tmp_path / "x.any")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suffixes": ["xyz"]}, r"document format mine: suffixes is \['xyz'\], expected some such as '\.xyz'"),
        ({"description": 3}, "document format mine: description is 3, expected a line of text"),
        ({"recognises": 3}, "document format mine: recognises is 3, expected a function"),
        ({"name": "jsonl"}, "document format jsonl is built in, expected another name"),
    ],
)
def test_wrong_registrations_are_refused(options, message):
    with pytest.raises(SettingError, match=f"^{message}"):
        document_format(**({"name": "mine", "description": "x"} | options))(lambda opened: [])
    with pytest.raises(SettingError, match=r"^document format mine is int, expected a function"):
        document_format("mine", "x")(3)  # type: ignore[type-var]
