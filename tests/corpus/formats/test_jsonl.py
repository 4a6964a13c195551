import json

import pytest

from searchlab.corpus import read_documents, read_topics
from searchlab.errors import RecordError
from searchlab.records import Document, Topic


def test_one_object_a_line_is_one_document(write):
    path = write(
        "docs.jsonl",
        '{"docno": "a", "title": "First", "body": "One.", "year": 1999}\n\n{"docno": "b", "body": "Two."}\n',
    )
    first, second = read_documents([path])
    assert first == Document("a", "First", "One.", {"year": 1999})
    assert second == Document("b", "", "Two.")
    assert (first.location, second.location) == (f"{path}:1", f"{path}:3")


@pytest.mark.parametrize("key", ["docno", "doc_id", "docid", "id", "_id"])
def test_every_customary_key_can_hold_the_docno(write, key):
    path = write("docs.jsonl", f'{{"{key}": "x1"}}')
    assert list(read_documents([path])) == [Document("x1")]


@pytest.mark.parametrize("key", ["body", "text", "abstract", "contents"])
def test_every_customary_key_can_hold_the_body(write, key):
    path = write("docs.jsonl", f'{{"id": 1, "{key}": "words"}}')
    assert list(read_documents([path])) == [Document("1", "", "words")]


def test_the_first_key_wins_and_the_others_stay_as_fields(write):
    path = write("docs.jsonl", '{"id": 7, "docno": "a", "contents": "c", "text": "t", "deep": {"x": [1, null]}}')
    assert list(read_documents([path])) == [
        Document("a", "", "t", {"id": 7, "contents": "c", "deep": {"x": [1, None]}})
    ]


def test_title_and_body_may_be_null_numbers_or_lists_of_strings(write):
    path = write("docs.jsonl", '{"id": 1, "title": null, "body": ["a", "b"]}\n{"id": 2, "title": 1984, "body": 1.5}')
    assert list(read_documents([path])) == [Document("1", "", "a\nb"), Document("2", "1984", "1.5")]


def test_escaped_control_characters_and_half_surrogates_are_kept_out(write):
    path = write("docs.jsonl", r'{"id": 1, "body": "a\u0000b\u001bc\r\nd\ud800e", "f": ["\ud800"], "\u0007": 1}')
    assert list(read_documents([path])) == [Document("1", "", "a b c\nd\ufffde", {"f": ["\ufffd"], " ": 1})]


@pytest.mark.parametrize("field", ["", ', "f": "x"', ', "f": 1', r', "f": "\u0007"'])
def test_control_characters_are_kept_out_however_they_are_written(write, field):
    path = write("docs.jsonl", '{"id": "a-1", "title": "x\x7fy\x85z", "body": "\ufeffb"' + field + "}")
    (document,) = read_documents([path])
    assert (document.docno, document.title, document.body) == ("a-1", "x y z", "\ufeffb")


@pytest.mark.parametrize("blank", ["\x00", "\x1f", "\x7f", "\x85"])
def test_control_characters_of_a_line_count_as_blanks_wherever_they_are(write, blank):
    path = write(
        "docs.jsonl", f'{{"id": "0"}}\n{blank}{{{blank}"id"{blank}: "a",{blank}"body": "x{blank}y"}}{blank}\n{blank}\n'
    )
    _, document = read_documents([path])
    assert (document.docno, document.body) == ("a", "x y")


@pytest.mark.parametrize("docno", ["a b", "", "\ufeffa", "a\u2003b", "a\tb"])
def test_a_docno_that_is_no_column_of_a_run_is_a_bad_record(write, docno):
    path = write("docs.jsonl", json.dumps({"id": docno, "body": "x"}) + "\n")
    with pytest.raises(RecordError, match="docno"):
        list(read_documents([path]))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1]", "expected a JSON object, found a list"),
        ("3", "expected a JSON object, found a number"),
        ("null", "expected a JSON object, found null"),
        ('"a"', "expected a JSON object, found a string"),
        ('{"id": 1', "expected a JSON object, found invalid JSON (Expecting ',' delimiter at column 9)"),
        ('{"id": NaN}', "expected a JSON object, found invalid JSON (NaN is not JSON)"),
        ('{"id": 1, "f": -Infinity}', "expected a JSON object, found invalid JSON (-Infinity is not JSON)"),
        ('{"id": 1, "f": 1e999}', "expected a JSON object, found invalid JSON (a number is too large)"),
        (
            '{"id": 1, "f": ' + "[" * 200 + "]" * 200 + "}",
            "expected a JSON object, found one nested too deeply",
        ),
        ('{"f": ' + "[" * 100_000, "expected a JSON object, found one nested too deeply"),
        ('{"body": "x"}', "expected a docno (one of docno, doc_id, docid, id, _id), found none"),
        ('{"id": ""}', "expected a docno, found an empty one"),
        ('{"id": " "}', "expected a docno, found an empty one"),
        ('{"id": "a b"}', "expected a docno without blanks, found 'a b'"),
        (r'{"id": "a\nb"}', r"expected a docno without blanks, found 'a\nb'"),
        ('{"id": true}', "expected a string or an integer as id, found true or false"),
        ('{"docno": 1.5}', "expected a string or an integer as docno, found a number"),
        ('{"docno": null, "id": 1}', "expected a string or an integer as docno, found null"),
        ('{"id": 1, "title": {}}', "expected text as title, found an object"),
        ('{"id": 1, "text": false}', "expected text as text, found true or false"),
        ('{"id": 1, "body": ["a", 2]}', "expected a list of strings as body, found a number in it"),
    ],
)
def test_a_malformed_line_is_named_with_its_number(write, message, line, complaint):
    path = write("docs.jsonl", '{"id": 0}\n\n' + line)
    assert message(RecordError, read_documents, [path]) == f"{path}:3: {complaint}"


def test_an_integer_of_thousands_of_digits_is_a_malformed_record(write, message):
    path = write("docs.jsonl", '{"id": ' + "9" * 5000 + "}")
    assert message(RecordError, read_documents, [path]).startswith(f"{path}:1: expected a JSON object, found")


@pytest.mark.parametrize("key", ["qid", "query_id", "topic_id", "id", "_id", "num"])
def test_every_customary_key_can_hold_the_qid(write, key):
    assert read_topics(write("topics.jsonl", f'{{"{key}": 7, "query": "wing"}}')) == [Topic("7", "wing")]


@pytest.mark.parametrize("key", ["query", "text", "title"])
def test_every_customary_key_can_hold_the_text_of_a_topic(write, key):
    path = write("topics.jsonl", f'{{"qid": "007", "{key}": "heat\\nflow"}}')
    assert read_topics(path) == [Topic("007", "heat flow")]


def test_the_other_keys_of_a_topic_become_fields_of_text(write):
    path = write("topics.jsonl", '{"qid": "1", "query": "q", "title": "t", "n": 3, "tags": ["a"], "none": null}')
    assert read_topics(path) == [Topic("1", "q", {"title": "t", "n": "3", "tags": '["a"]'})]


def test_a_part_that_is_really_called_text_can_be_chosen_beside_the_query(write):
    path = write("topics.jsonl", '{"qid": "1", "query": "q", "text": "t"}')
    assert read_topics(path) == [Topic("1", "q", {"text": "t"})]
    assert read_topics(path, fields=("query", "text")) == [Topic("1", "q t")]


@pytest.mark.parametrize("docno", [2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30])
def test_large_whole_numbers_are_exact(write, docno):
    path = write("docs.jsonl", f'{{"id": {docno}, "body": "b", "count": [{docno}], "share": 1e22}}')
    assert list(read_documents([path])) == [Document(str(docno), "", "b", {"count": [docno], "share": 1e22})]


def test_escapes_that_are_no_characters_are_replaced(write):
    path = write("docs.jsonl", r'{"id": "a", "title": "\ud800x", "body": "\ud83d\ude00"}')
    assert list(read_documents([path])) == [Document("a", "\ufffdx", "\U0001f600")]
