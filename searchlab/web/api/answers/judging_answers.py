"""Answers about judging: topic sets, topics and their changes, judgments, pools, imports."""

from __future__ import annotations

from searchlab.judgments.input_checks import CHANGE_KINDS
from searchlab.web.api.answers.schema_types import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    TEXT,
    Answers,
    Schema,
    extended,
    list_of,
    named,
    nullable,
    one_of,
    record,
    table_of,
)
from searchlab.web.api.answers.search_answers import FIELDS, MARKS

JUDGMENT = record(qid=TEXT, docno=TEXT, judge=TEXT, grade=nullable(INTEGER), note=TEXT, when=TEXT)
IMPORT = record(
    index=TEXT,
    topic_set=TEXT,
    kind=TEXT,
    n_topics=INTEGER,
    n_judgments=INTEGER,
    remarks=list_of(TEXT),
    n_unread=INTEGER,
    unread=list_of(named("UnreadLine")),
)
SCHEMAS: dict[str, Schema] = {
    "TopicSet": record(
        name=TEXT,
        n_topics=INTEGER,
        n_judged_topics=INTEGER,
        n_judgments=INTEGER,
        n_relevant=INTEGER,
        judges=list_of(TEXT),
    ),
    "Topic": record(qid=TEXT, text=TEXT, n_judged=INTEGER, n_relevant=INTEGER),
    "EditableTopic": record(topic_set=TEXT, qid=TEXT, text=TEXT, criteria=TEXT, highlight=TEXT),
    "Change": record(
        id=INTEGER, kind=one_of(*CHANGE_KINDS), what=TEXT, judge=TEXT, made=TEXT, undone=BOOLEAN, redoable=BOOLEAN
    ),
    "Judgment": JUDGMENT,
    "Judged": record(topic_set=TEXT, qid=TEXT, docno=TEXT, grade=nullable(INTEGER), note=TEXT, n_judged=INTEGER),
    "TakenBack": extended(
        JUDGMENT,
        topic_set=TEXT,
        topic=TEXT,
        title=TEXT,
        what=TEXT,
        n_judgments=INTEGER,
        present_grade=nullable(INTEGER),
        present_grades=table_of(nullable(INTEGER)),
    ),
    "UnreadLine": record(line=INTEGER, text=TEXT, problem=TEXT),
}

ANSWERS: Answers = {
    ("GET", "/api/topic-sets"): record(
        index=TEXT,
        topic_sets=list_of(named("TopicSet")),
        collection=nullable(record(n_topics=INTEGER, n_judgments=INTEGER)),
    ),
    ("GET", "/api/topics"): record(index=TEXT, topic_set=TEXT, topics=list_of(named("Topic"))),
    ("POST", "/api/topics"): record(index=TEXT, topic_set=TEXT, qid=TEXT, text=TEXT),
    ("GET", "/api/topic"): named("EditableTopic"),
    ("POST", "/api/topic/edit"): named("Change"),
    ("DELETE", "/api/topics"): named("Change"),
    ("POST", "/api/topics/merge"): named("Change"),
    ("POST", "/api/topic-sets/rename"): named("Change"),
    ("DELETE", "/api/topic-sets"): named("Change"),
    ("GET", "/api/changes"): record(index=TEXT, changes=list_of(named("Change"))),
    ("POST", "/api/changes/undo"): named("Change"),
    ("POST", "/api/changes/redo"): named("Change"),
    ("GET", "/api/judgments"): record(judgments=list_of(named("Judgment"))),
    ("POST", "/api/judgments"): named("Judged"),
    ("POST", "/api/judgments/batch"): record(judged=list_of(named("Judged")), n_judged=INTEGER),
    ("DELETE", "/api/judgments"): named("Judged"),
    ("POST", "/api/judgments/undo"): record(undone=nullable(named("TakenBack"))),
    ("POST", "/api/judgments/redo"): record(redone=nullable(named("TakenBack"))),
    ("GET", "/api/agreement"): record(
        pairs=list_of(
            record(
                judges=list_of(TEXT),
                n=INTEGER,
                agreement=nullable(NUMBER),
                kappa=nullable(NUMBER),
                weighted_kappa=nullable(NUMBER),
                grades=list_of(INTEGER),
                table=list_of(list_of(INTEGER)),
            )
        )
    ),
    ("POST", "/api/import"): record(
        index=TEXT, topic_set=TEXT, n_topics=INTEGER, n_judgments=INTEGER, change=nullable(INTEGER)
    ),
    ("POST", "/api/import/preview"): extended(
        IMPORT, topics=list_of(record(qid=TEXT, text=TEXT, n_judgments=INTEGER, is_new=BOOLEAN))
    ),
    ("POST", "/api/import/table"): extended(IMPORT, sentence=TEXT, change=nullable(INTEGER)),
    ("GET", "/api/pool"): record(
        index=TEXT,
        topic_set=TEXT,
        topic=record(qid=TEXT, text=TEXT),
        depth=INTEGER,
        systems=list_of(named("System")),
        n_pooled=INTEGER,
        n_judged=INTEGER,
        documents=list_of(
            record(
                docno=TEXT,
                title=TEXT,
                snippet=TEXT,
                marks=MARKS,
                fields=FIELDS,
                grade=nullable(INTEGER),
                note=TEXT,
            )
        ),
        first_unjudged=nullable(INTEGER),
    ),
    ("GET", "/api/next"): record(
        index=TEXT,
        topic_set=TEXT,
        measure=TEXT,
        left=named("ComparedSystem"),
        right=named("ComparedSystem"),
        difference=nullable(NUMBER),
        n_topics=INTEGER,
        n_waiting=INTEGER,
        documents=list_of(record(qid=TEXT, text=TEXT, docno=TEXT, title=TEXT, swing=NUMBER)),
    ),
}
