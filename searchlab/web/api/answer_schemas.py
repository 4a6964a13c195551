"""JSON schemas of the answers of the API, so that generated clients have fields.

A schema is written as an example of its types: `{"docno": TEXT, "hits": [HIT]}`. Answers may have more fields than are
described; the tests compare real answers with these schemas.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
ANY_OBJECT: Schema = {"type": "object"}


def nullable(schema: Schema) -> Schema:
    """The schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def list_of(schema: Schema) -> Schema:
    """The schema of a list."""
    return {"type": "array", "items": schema}


def table_of(schema: Schema) -> Schema:
    """The schema of an object with any names and values of one kind."""
    return {"type": "object", "additionalProperties": schema}


def record(**fields: Schema) -> Schema:
    """The schema of an object that has all of these fields."""
    return {"type": "object", "required": list(fields), "properties": fields}


SYSTEM = record(name=TEXT, label=TEXT, kind={"type": "string", "enum": ["scorer", "model"]})
MARKS = table_of(list_of(list_of(INTEGER)))
HIT = record(
    rank=INTEGER,
    score=NUMBER,
    docno=TEXT,
    title=TEXT,
    snippet=TEXT,
    marks=MARKS,
    fields=ANY_OBJECT,
    grade=nullable(INTEGER),
)
FACET = record(values=list_of(record(value=TEXT, n_docs=INTEGER)), n_values=INTEGER, n_without=INTEGER)
QUALITY = record(measure=TEXT, value=NUMBER, n_judged=INTEGER, n_examined=INTEGER, learnt_from_it=BOOLEAN)
RANKING = record(
    index=TEXT,
    query=TEXT,
    system=SYSTEM,
    k=INTEGER,
    page=INTEGER,
    filters=list_of(TEXT),
    n_docs=INTEGER,
    n_matches=INTEGER,
    more=BOOLEAN,
    hits=list_of(HIT),
    unknown=list_of(TEXT),
    remarks=list_of(TEXT),
    seconds=NUMBER,
    quality=nullable(QUALITY),
)
TOPIC_OF_QUERY = record(topic_set=TEXT, qid=TEXT)
RESULTS = {
    **RANKING,
    "required": [*RANKING["required"], "suggestions", "corrected_query", "completions", "facets", "topic"],
    "properties": {
        **RANKING["properties"],
        "suggestions": table_of(TEXT),
        "corrected_query": nullable(TEXT),
        "completions": table_of(list_of(TEXT)),
        "facets": table_of(FACET),
        "sort": TEXT,
        "other_fields": list_of(record(field=TEXT, n_docs=INTEGER, query=TEXT)),
        "topic": nullable(TOPIC_OF_QUERY),
    },
}
PART = record(label=TEXT, words=TEXT, amount=NUMBER)
EXPLANATION = record(docno=TEXT, title=TEXT, score=NUMBER, found=BOOLEAN, parts=list_of(PART))
JUDGMENT = record(qid=TEXT, docno=TEXT, judge=TEXT, grade=nullable(INTEGER), note=TEXT, when=TEXT)
JUDGED = record(topic_set=TEXT, qid=TEXT, docno=TEXT, grade=nullable(INTEGER), note=TEXT, n_judged=INTEGER)
SAVED_SEARCH = record(name=TEXT, query=TEXT, system=TEXT, filters=list_of(TEXT), sort=TEXT, judge=TEXT, made=TEXT)
UNREAD_LINE = record(line=INTEGER, text=TEXT, problem=TEXT)
UPLOAD = record(
    name=TEXT,
    state={"type": "string", "enum": ["receiving", "indexing", "done", "failed"]},
    n_files=INTEGER,
    n_bytes=INTEGER,
    account=TEXT,
    events=list_of(record(kind=TEXT, location=TEXT, message=TEXT)),
)

# By method and path; an endpoint that is not here answers with an object of any fields, or with text.
ANSWERS: dict[tuple[str, str], Schema] = {
    ("GET", "/api/indexes"): record(
        indexes=list_of(
            record(
                name=TEXT,
                n_docs=INTEGER,
                language=TEXT,
                fields=list_of(TEXT),
                numeric_fields=list_of(TEXT),
                systems=list_of(SYSTEM),
            )
        )
    ),
    ("GET", "/api/search"): RESULTS,
    ("POST", "/api/search/batch"): record(answers=list_of(RESULTS)),
    ("GET", "/api/similar"): RESULTS,
    ("GET", "/api/document"): record(
        index=TEXT,
        docno=TEXT,
        title=TEXT,
        body=TEXT,
        marks=MARKS,
        fields=ANY_OBJECT,
        start=INTEGER,
        n_characters=INTEGER,
    ),
    ("GET", "/api/suggest"): record(query=TEXT, suggestions=list_of(record(text=TEXT, kind=TEXT))),
    ("GET", "/api/compare"): record(
        index=TEXT,
        query=TEXT,
        left=RANKING,
        right=RANKING,
        pairs=list_of(record(docno=TEXT, left=nullable(INTEGER), right=nullable(INTEGER))),
        overlap=INTEGER,
        moves=list_of(record(docno=TEXT, title=TEXT, sentence=TEXT)),
    ),
    ("GET", "/api/explain"): record(
        index=TEXT,
        query=TEXT,
        system=SYSTEM,
        document=EXPLANATION,
        against=nullable(EXPLANATION),
        differences=list_of(PART),
        sentence=TEXT,
    ),
    ("GET", "/api/searches"): record(index=TEXT, saved=list_of(SAVED_SEARCH), history=list_of(TEXT)),
    ("POST", "/api/searches"): SAVED_SEARCH,
    ("DELETE", "/api/searches"): record(deleted=SAVED_SEARCH),
    ("DELETE", "/api/history"): record(n_deleted=INTEGER),
    ("POST", "/api/uploads"): UPLOAD,
    ("POST", "/api/uploads/file"): UPLOAD,
    ("POST", "/api/uploads/index"): UPLOAD,
    ("GET", "/api/uploads"): UPLOAD,
    ("GET", "/api/topic-sets"): record(
        index=TEXT,
        topic_sets=list_of(
            record(
                name=TEXT,
                n_topics=INTEGER,
                n_judged_topics=INTEGER,
                n_judgments=INTEGER,
                n_relevant=INTEGER,
                judges=list_of(TEXT),
            )
        ),
    ),
    ("GET", "/api/topics"): record(
        index=TEXT,
        topic_set=TEXT,
        topics=list_of(record(qid=TEXT, text=TEXT, n_judged=INTEGER, n_relevant=INTEGER)),
    ),
    ("POST", "/api/topics"): record(index=TEXT, topic_set=TEXT, qid=TEXT, text=TEXT),
    ("GET", "/api/judgments"): record(judgments=list_of(JUDGMENT)),
    ("POST", "/api/judgments"): JUDGED,
    ("POST", "/api/judgments/batch"): record(judged=list_of(JUDGED), n_judged=INTEGER),
    ("DELETE", "/api/judgments"): JUDGED,
    ("POST", "/api/import/preview"): record(
        kind=TEXT, n_topics=INTEGER, n_judgments=INTEGER, n_unread=INTEGER, unread=list_of(UNREAD_LINE)
    ),
    ("POST", "/api/import/table"): record(
        kind=TEXT, n_topics=INTEGER, n_judgments=INTEGER, n_unread=INTEGER, sentence=TEXT, unread=list_of(UNREAD_LINE)
    ),
}
