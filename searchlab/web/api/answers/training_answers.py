"""Answers about training: readiness, jobs, models, the default ranker."""

from __future__ import annotations

from searchlab.training.advice import KINDS
from searchlab.training.retraining import KINDS as COMPARISON_KINDS
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
from searchlab.web.api.training.model_list import USES

# Means of measures, by system, then measure.
MEANS = table_of(table_of(NUMBER))
# The outcome of a cross-validation: what is not known is null.
OUTCOME = record(
    verdict=nullable(TEXT), helps=nullable(BOOLEAN), means=nullable(MEANS), advice=nullable(named("Advice"))
)
SCHEMAS: dict[str, Schema] = {
    "ModelComparison": extended(
        record(kind=one_of(*COMPARISON_KINDS), finding=TEXT, sentence=TEXT, is_better=BOOLEAN),
        measure=nullable(TEXT),
        n_topics=INTEGER,
        means=table_of(NUMBER),
        intervals=table_of(list_of(NUMBER)),
        verdict=nullable(TEXT),
    ),
    "Advice": extended(
        record(kind=one_of(*KINDS), sentence=TEXT), {"n_more": nullable(INTEGER), "use": TEXT, "more_judgments": TEXT}
    ),
    "Job": extended(
        OUTCOME,
        id=TEXT,
        index=TEXT,
        topic_set=TEXT,
        ranker=TEXT,
        recipe=TEXT,
        features=TEXT,
        name=TEXT,
        state=one_of("waiting", "running", "done", "failed", "cancelled"),
        stage=TEXT,
        done=INTEGER,
        total=INTEGER,
        seconds=NUMBER,
        n_topics=nullable(INTEGER),
        former=nullable(extended(OUTCOME, n_topics=nullable(INTEGER))),
        comparison=nullable(named("ModelComparison")),
        version=nullable(TEXT),
        former_version=nullable(TEXT),
        error=nullable(TEXT),
    ),
    "Model": extended(
        OUTCOME,
        name=TEXT,
        label=TEXT,
        ranker=TEXT,
        recipe=nullable(TEXT),
        n_topics=INTEGER,
        n_features=INTEGER,
        topic_set=nullable(TEXT),
        usable=BOOLEAN,
        problem=nullable(TEXT),
        recommended=nullable(TEXT),
        judgments_changed=BOOLEAN,
        trained_here=BOOLEAN,
        comparison=nullable(named("ModelComparison")),
    ),
    "ModelVersion": record(
        name=TEXT,
        version=nullable(TEXT),
        since=TEXT,
        use=one_of(*USES),
        kind=nullable(one_of(*KINDS)),
        verdict=nullable(TEXT),
        ranker=TEXT,
        topic_set=nullable(TEXT),
        n_topics=nullable(INTEGER),
        comparison=nullable(TEXT),
        problem=nullable(TEXT),
    ),
    "DefaultRanker": record(system=TEXT, label=TEXT, chosen_by=TEXT, chosen=TEXT, problem=nullable(TEXT)),
}

ANSWERS: Answers = {
    ("GET", "/api/readiness"): record(
        index=TEXT,
        topic_set=TEXT,
        n_topics=INTEGER,
        n_useful_topics=INTEGER,
        n_judgments=INTEGER,
        advice=nullable(named("Advice")),
    ),
    ("POST", "/api/train"): named("Job"),
    ("GET", "/api/jobs"): record(jobs=list_of(named("Job"))),
    ("GET", "/api/jobs/{id}"): named("Job"),
    ("POST", "/api/jobs/cancel"): named("Job"),
    ("GET", "/api/models"): record(
        index=TEXT,
        default_ranker=nullable(named("DefaultRanker")),
        models=list_of(named("Model")),
        deleted=list_of(TEXT),
    ),
    ("GET", "/api/models/history"): record(index=TEXT, n_all=INTEGER, models=list_of(named("ModelVersion"))),
    ("POST", "/api/models/use"): record(index=TEXT, system=TEXT),
    ("POST", "/api/models/rename"): record(index=TEXT, name=TEXT),
    ("POST", "/api/models/delete"): record(index=TEXT, name=TEXT, version=TEXT),
    ("DELETE", "/api/models/{name}"): record(index=TEXT, name=TEXT, version=TEXT),
    ("POST", "/api/models/restore"): record(index=TEXT, name=TEXT),
}
