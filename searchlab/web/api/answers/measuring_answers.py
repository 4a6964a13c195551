"""Answers about measuring: systems on judged topics, compared with a baseline."""

from __future__ import annotations

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
    record,
    table_of,
)
from searchlab.web.api.answers.search_answers import SCHEMAS as SEARCH_SCHEMAS

SYSTEM = SEARCH_SCHEMAS["System"]
SCHEMAS: dict[str, Schema] = {
    "ComparedSystem": extended(SYSTEM, learnt_from_these=BOOLEAN),
    "MeasuredSystem": extended(
        SYSTEM,
        means=table_of(NUMBER),
        judged=NUMBER,
        learnt_from_these=BOOLEAN,
        cross_validated=nullable(table_of(NUMBER)),
        held_out=BOOLEAN,
    ),
    "Comparison": record(
        name=TEXT,
        sentence=TEXT,
        wins=INTEGER,
        losses=INTEGER,
        ties=INTEGER,
        difference=NUMBER,
        p=nullable(NUMBER),
    ),
}

ANSWERS: Answers = {
    ("GET", "/api/measure"): record(
        index=TEXT,
        topic_set=TEXT,
        judge=TEXT,
        measures=list_of(TEXT),
        baseline=nullable(TEXT),
        against=nullable(TEXT),
        systems=list_of(named("MeasuredSystem")),
        comparisons=list_of(named("Comparison")),
        topics=list_of(record(qid=TEXT, text=TEXT, values=table_of(NUMBER), difference=NUMBER)),
        n_topics=INTEGER,
        n_without_relevant=INTEGER,
        n_unjudged_topics=INTEGER,
        n_left_out=INTEGER,
        reports=list_of(record(name=TEXT, title=TEXT)),
    ),
}
