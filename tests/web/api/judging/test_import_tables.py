"""Import and export of tables over HTTP."""

import base64
import csv
import io

import pytest

from searchlab.web.api.judging.import_tables import export_judgments, import_table, preview_import
from tests.web.judged_app import rejected

TABLE = "query,docid,rating\nw0,0-good1,2\nw0,nowhere,1\n=1+1,1-good1,0\n"


def test_a_preview_changes_nothing_and_the_import_adds_what_it_showed(state):
    shown = preview_import(state, topic_set="mine", text=TABLE)
    assert (shown["n_topics"], shown["n_judgments"], shown["n_unread"]) == (2, 2, 1)
    assert shown["topics"][0] == {"qid": "1", "text": "w0", "n_judgments": 1, "is_new": True}
    assert state.judgments.topic_sets() == []
    encoded = base64.b64encode(TABLE.encode()).decode()
    added = import_table(state, topic_set="mine", judge="ann", content=encoded)
    assert added["sentence"] == "2 topics, 2 judgments added; 1 line not understood"
    assert added["unread"][0]["line"] == 3
    assert state.judgments.grades("mine") == {"1": {"0-good1": 2}, "2": {"1-good1": 0}}


def test_judgments_are_exported_as_a_table_that_can_be_imported_again(state):
    import_table(state, topic_set="mine", judge="ann", text=TABLE)
    text = export_judgments(state, topic_set="mine")
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert rows[0][:5] == ["query", "docid", "rating", "qid", "judge"]
    assert rows[1][:5] == ["w0", "0-good1", "2", "1", "ann"]
    assert rows[2][0] == "'=1+1"  # no formula
    again = preview_import(state, topic_set="mine", text=text)
    assert (again["n_unread"], again["n_judgments"]) == (1, 1)  # the query with an apostrophe is another one


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "expected either content or text"),
        ({"text": "a", "content": "YQ=="}, "expected either content or text"),
        ({"content": "?"}, "content is not base64"),
        ({"text": "query,docid,rating\na,nowhere,1\n"}, "nothing to import: 1 line not understood"),
    ],
)
def test_what_cannot_be_imported_is_an_error(state, values, problem):
    assert problem in rejected(400, import_table, state, topic_set="mine", judge="ann", **values)
    assert "judge is empty" in rejected(400, import_table, state, topic_set="mine", judge=" ", text="a")
