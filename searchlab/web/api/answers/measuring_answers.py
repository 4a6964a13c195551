"""Answers about measuring: systems on judged topics, compared with a baseline; experiments."""

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
    one_of,
    record,
    table_of,
)
from searchlab.web.api.answers.search_answers import SCHEMAS as SEARCH_SCHEMAS

SYSTEM = SEARCH_SCHEMAS["System"]
EXPERIMENT = record(
    name=TEXT,
    title=TEXT,
    lead=TEXT,
    started=TEXT,
    n_topics=INTEGER,
    measures=list_of(TEXT),
    baseline=TEXT,
    systems=list_of(named("ExperimentSystem")),
)
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
    # 1 where a system is significantly better than the baseline, -1 where it is worse, otherwise 0.
    "ExperimentSystem": record(name=TEXT, description=TEXT, means=table_of(NUMBER), significance=table_of(INTEGER)),
    "Experiment": EXPERIMENT,
    "ExperimentJob": record(
        id=TEXT,
        index=TEXT,
        title=TEXT,
        topic_set=TEXT,
        systems=list_of(TEXT),
        rankers=list_of(TEXT),
        measures=list_of(TEXT),
        name=TEXT,
        state=one_of("waiting", "running", "done", "failed", "cancelled"),
        stage=TEXT,
        done=INTEGER,
        total=INTEGER,
        seconds=NUMBER,
        lead=nullable(TEXT),
        error=nullable(TEXT),
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
        reports=list_of(record(name=TEXT, title=TEXT, is_experiment=BOOLEAN)),
    ),
    ("GET", "/api/experiments"): record(
        index=TEXT, experiments=list_of(named("Experiment")), jobs=list_of(named("ExperimentJob"))
    ),
    ("GET", "/api/experiment"): extended(
        EXPERIMENT,
        index=TEXT,
        topics=list_of(record(qid=TEXT, text=TEXT, values=table_of(table_of(NUMBER)))),
    ),
    ("POST", "/api/experiments"): named("ExperimentJob"),
    ("GET", "/api/experiments/jobs"): record(jobs=list_of(named("ExperimentJob"))),
    ("POST", "/api/experiments/cancel"): named("ExperimentJob"),
}
