import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchlab.corpus import ReadingNotes, read_documents, source_files
from searchlab.corpus.reading_notes import MADE_DOCNO
from searchlab.errors import RecordError
from searchlab.records import Document
from tests.hypothesis_profiles import examples

CSL = [
    {
        "id": "ting2008",
        "type": "article-journal",
        "title": "Wings of <i>Culex</i>",
        "author": [
            {"family": "Ting", "given": "Yi Li"},
            {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
            {"literal": "Wing Group"},
        ],
        "editor": [{"family": "Roe"}],
        "container-title": "Journal of Aeroscience",
        "container-title-short": "J. Ae.",
        "issued": {"date-parts": [["2008", 5, 12]]},
        "volume": "7",
        "issue": 2,
        "page": "11–19",
        "DOI": "10.1/x",
        "PMID": "18481234",
        "PMCID": "PMC99",
        "ISSN": "1234-5678",
        "URL": "http://x.org",
        "abstract": "<jats:p>Flow.</jats:p>",
        "keyword": "wing, flow",
        "note": "A note",
        "language": "en",
        "publisher": "Press",
        "publisher-place": "Rome",
        "source": "PubMed",
        "custom": {"deep": 1},
        "call-number": "C5",
    },
    {
        "id": 1,
        "type": "book",
        "title": ["Heat"],
        "ISBN": ["9781402894626"],
        "issued": {"raw": "Spring 2008"},
        "DOI": "",
    },
]


def test_records_of_csl_json_have_the_same_fields(write):
    path = write("a.json", json.dumps(CSL))
    notes = ReadingNotes()
    first, second = read_documents(path, notes=notes)
    assert first == Document(
        "ting2008",
        "Wings of Culex",
        "Flow.",
        {
            "authors": ["Ting, Yi Li", "van Beethoven, Ludwig", "Wing Group"],
            "editors": ["Roe"],
            "keywords": ["wing", "flow"],
            "types": ["journal article"],
            "issn": ["1234-5678"],
            "urls": ["http://x.org"],
            "notes": ["A note"],
            "journal": "Journal of Aeroscience",
            "journal_abbreviation": "J. Ae.",
            "year": 2008,
            "date": "2008-05-12",
            "volume": "7",
            "issue": "2",
            "pages": "11-19",
            "doi": "10.1/x",
            "pmid": "18481234",
            "pmcid": "PMC99",
            "publisher": "Press",
            "place": "Rome",
            "language": "en",
            "database": "PubMed",
            "call-number": "C5",
        },
    )
    fields = {"types": ["book"], "isbn": ["9781402894626"], "year": 2008, "date": "Spring 2008"}
    assert second == Document("a.json#2", "Heat", "", fields)
    assert notes.n_events[MADE_DOCNO] == 1


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [list, lambda items: {"status": "ok", "message": {"items": list(items)}}])
def test_objects_are_documents_on_one_line_or_many(write, indent, wrap):
    records = [{"id": "a", "title": 'x ]} \\ "', "n": {"m": [1]}}, {"text": "no id"}]
    text = json.dumps(wrap(records), indent=indent)
    # An object on one line is a line of JSON lines.
    chosen = "json" if text.startswith("{") and indent is None else None
    first, second = read_documents(write("a.json", text), format=chosen)
    assert first == Document("a", 'x ]} \\ "', "", {"n": {"m": [1]}})
    assert second == Document("a.json#2", "", "no id")


def test_a_single_object_over_lines_is_a_document(write):
    path = write("a.json", '{\n  "id": "a",\n  "title": "x"\n}\n{\n  "id": "b"\n}\n')
    documents = list(read_documents(path))
    assert documents == [Document("a", "x"), Document("b")]
    assert [document.location for document in documents] == [f"{path}:1", f"{path}:5"]


@pytest.mark.parametrize(
    ("content", "complaints"),
    [
        ('[{"id": 1},\n{"id": },\n{"id": 2}]', ["2: expected a JSON object, found invalid JSON"]),
        ('[{"id": 1}, words,\n 7, {"id": 2}]', ["1: expected a JSON object, found 'words, 7'"]),
        ('[{"id": 1}, [3],\n{"id": 2}]', ["1: expected a JSON object, found a list"]),
        ('[{"id": 1}, {"id": 2}] {"a', ["1: expected the end of a JSON object, found the end of the file"]),
        ('[{"id": 1}, {"id": 2}]]', ["1: expected a JSON object, found ']'"]),
    ],
)
def test_a_mistake_in_one_element_costs_that_element(write, content, complaints):
    path = write("a.json", content)
    notes = ReadingNotes()
    assert [document.docno for document in read_documents(path, notes=notes, strict=False)] == ["1", "2"]
    assert len(notes.bad_records) == len(complaints)
    for error, complaint in zip(notes.bad_records, complaints, strict=True):
        assert str(error).startswith(f"{path}:{complaint}")


def test_a_large_array_on_one_line_is_read_object_by_object(write):
    # The line is longer than a record may be.
    path = write("a.json", json.dumps([{"id": number, "text": "word " * 20} for number in range(300)]))
    assert len(list(read_documents(path, max_record_mb=0.001))) == 300


texts = st.text(st.sampled_from('ab"\\{}[] \n,é'), max_size=4)


@given(
    records=st.lists(st.dictionaries(texts, texts), min_size=1),
    size=st.integers(1, 40),
)
@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_elements_are_found_whatever_they_hold_and_wherever_blocks_end(tmp_path, monkeypatch, records, size):
    monkeypatch.setattr(source_files, "HEAD_BYTES", size)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": number, "r": record} for number, record in enumerate(records)]))
    documents = list(read_documents(path, format="json"))
    assert [document.docno for document in documents] == [str(number) for number in range(len(records))]
    assert [document.fields["r"] for document in documents] == records


def test_strict_reading_stops_at_a_mistake(write, message):
    path = write("a.json", '[{"id": 1}, {"id": 2]')
    said = message(RecordError, read_documents, path)
    assert said.startswith(f"{path}:1: expected")
