"""Measures of systems on judged topics, and comparisons with a baseline.

The baseline is the first of the systems that has not learnt from these topics, one that is named, or the best of those
that learn nothing, with which a model has to compete.

A model that has learnt from some of these topics does better on them than on others: measuring it on them is no test.
Its numbers are marked, and instead of a comparison the verdict of its cross-validation is given; if that used the same
topics and judgments, its means are given beside those of the other systems, and its values on single topics are those
of models that had not seen the topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from searchlab.errors import unknown_name
from searchlab.evaluation.comparison import Comparison, check_comparable, compare_evaluations, compare_values
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.evaluation.significance import TIE_TOLERANCE
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.systems import MODEL, System
from searchlab.records import Topic
from searchlab.training.cross_validation import BUILT_IN
from searchlab.training.training_set import EXPANDED as RM3
from searchlab.types import Floats
from searchlab.web.api.judging.pool import topics_of_set
from searchlab.web.api.measuring.collection_topics import has_learnt_from
from searchlab.web.api.measuring.reports import list_reports
from searchlab.web.api.measuring.topic_rankings import MAX_TOPICS, RANKING_DEPTH, choose_systems, rank_topics
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import system_record
from searchlab.web.api.training.models import is_held_out, read_trial
from searchlab.web.state.request_state import RequestState

JUDGED = "Judged@10"
# The baseline that is chosen by the first measure.
BEST = "best"
DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10")
# Means of the same rankings by the same judgments differ at most by rounding.
ROUNDING = 1e-9

MEASURES = Parameter(
    "measures", "strings", "measures such as nDCG@10; systems are compared by the first", DEFAULT_MEASURES, max_items=10
)
BASELINE = Parameter(
    "baseline",
    "string",
    "the system to compare with: one of systems, or best, the best that learns nothing; by default the first",
    default="",
    max_length=200,
)
AGAINST_SYSTEM = Parameter(
    "against", "string", "the system to compare with the baseline topic by topic", default="", max_length=200
)


@dataclass(frozen=True)
class MeasuredSystem:
    """A system and its evaluation; `bundle` is its model if that has learnt from topics that are measured.

    `cross_validated` are the means of its cross-validation, if they are comparable with those of other systems here,
    and `held_out` its values on single topics by qid, each of a model that had not seen the topic.
    """

    system: System
    evaluation: Evaluation
    bundle: Bundle | None
    cross_validated: Mapping[str, float] | None = None
    held_out: Mapping[str, float] | None = None

    @property
    def is_fair(self) -> bool:
        """Whether its values on single topics are those of a system that has not learnt from them."""
        return self.bundle is None or self.held_out is not None

    def values_of(self, measure: str) -> Floats:
        """The value on each topic: held out, if it is known."""
        if self.held_out is None:
            return self.evaluation.values_of(measure)
        return np.array([self.held_out[qid] for qid in self.evaluation.qids])

    @property
    def trial(self) -> Mapping[str, Any]:
        """The outcome of the model's cross-validation."""
        return {} if self.bundle is None else read_trial(self.bundle)


def measure_systems(
    state: RequestState,
    *,
    topic_set: str,
    systems: Sequence[str] = (),
    measures: Sequence[str] = (),
    judge: str = "",
    against: str = "",
    baseline: str = "",
) -> dict[str, Any]:
    """Measures of systems on the topics of a set, topic by topic, and comparisons with a baseline.

    `against` is the system whose differences from the baseline are given for each topic, by default the best one.
    """
    store = state.judgments
    chosen = choose_systems(state.index, systems)
    names = [system.name for system in chosen]
    measured = list(dict.fromkeys(parse_measure(name).name for name in measures or DEFAULT_MEASURES))
    check_comparable(measured[0])
    if against and against not in names:
        raise unknown_name("system to compare with the baseline", against, names)

    if baseline not in ("", BEST, *names):
        raise unknown_name("baseline", baseline, [BEST, *names])

    def evaluate() -> dict[str, Any]:
        topics = topics_of_set(state, topic_set)
        grades = store.grades(topic_set, judge or None)
        judged = [topic for topic in topics if topic.qid in grades]
        used = judged[:MAX_TOPICS]
        evaluated = _evaluate(state, chosen, used, grades, measured) if used else []
        return {
            "index": state.index.name,
            "topic_set": topic_set,
            "judge": judge,
            "measures": measured,
            **_comparison_record(evaluated, measured, used, against, baseline),
            "n_topics": len(used),
            "n_without_relevant": sum(max(grades[topic.qid].values()) < 1 for topic in used),
            "n_unjudged_topics": len(topics) - len(judged),
            "n_left_out": len(judged) - len(used),
        }

    key = (store.version(), topic_set, tuple(names), tuple(measured), judge, against, baseline)
    answer = deepcopy(state.measurements.get(state.index, key, evaluate))
    return answer | {"reports": list_reports(state)}


def _evaluate(
    state: RequestState,
    systems: list[System],
    topics: list[Topic],
    grades: dict[str, dict[str, int]],
    measures: list[str],
) -> list[MeasuredSystem]:
    """Rank all topics by all systems, and evaluate the rankings."""
    qrels = {topic.qid: grades[topic.qid] for topic in topics}
    runs = rank_topics(state, systems, topics, RANKING_DEPTH)
    measured = []
    for system in systems:
        evaluation = evaluate_run(
            qrels, runs[system.name], [*measures, JUDGED], complete=True, name=system.name, warn=False
        )
        bundle = state.index.models.get(system.name.removeprefix(MODEL)) if system.kind == "model" else None
        if bundle is not None and has_learnt_from(state.index, bundle, topics):
            means = _cross_validated_means(state, bundle, topics, qrels, measures)
            held_out = None if means is None else _held_out_values(bundle, topics, qrels, measures[0])
            measured.append(MeasuredSystem(system, evaluation, bundle, means, held_out))
        else:
            measured.append(MeasuredSystem(system, evaluation, None))
    return measured


def _cross_validated_means(
    state: RequestState,
    bundle: Bundle,
    topics: list[Topic],
    qrels: Mapping[str, Mapping[str, int]],
    measures: list[str],
) -> dict[str, float] | None:
    """The means of a model's cross-validation, if it used these topics and judgments, on this index.

    Then the number of topics is the same, and the model's first stage, which was evaluated along with it, has the same
    means here. Topics without a relevant document were not used; every system scores 0 on them.
    """
    trial_means = read_trial(bundle)["means"] or {}
    first_stage, model_means = bundle.first_stage, trial_means.get(bundle.label, {})
    others = [means for name, means in trial_means.items() if name not in (bundle.label, RM3, BUILT_IN)]
    useful = [topic for topic in topics if max(qrels[topic.qid].values()) > 0]
    if first_stage is None or len(others) != 1 or dict(bundle.trial or {}).get("n_queries") != len(useful):
        return None
    common = [name for name in measures if name in model_means and name in others[0]]
    if not common:
        return None
    settings = ",".join(f"{name}={value}" for name, value in first_stage.settings.items())
    system = state.index.system(f"{first_stage.scorer}:{settings}" if settings else first_stage.scorer)
    run = rank_topics(state, [system], useful, RANKING_DEPTH)[system.name]
    evaluation = evaluate_run({topic.qid: qrels[topic.qid] for topic in useful}, run, common, complete=True, warn=False)
    if any(abs(evaluation.mean(name) - others[0][name]) > ROUNDING for name in common):
        return None
    return {name: model_means[name] * len(useful) / len(topics) for name in common}


def _held_out_values(
    bundle: Bundle, topics: list[Topic], qrels: Mapping[str, Mapping[str, int]], measure: str
) -> dict[str, float] | None:
    """The value of a model on each topic, by qid, when the topic was held out; 0 without a relevant document."""
    held_out: Any = dict(bundle.trial or {}).get("held_out")
    if not is_held_out(held_out) or held_out["measure"] != measure or bundle.label not in held_out["values"]:
        return None
    values = dict(zip(held_out["qids"], held_out["values"][bundle.label], strict=True))
    useful = {topic.qid for topic in topics if max(qrels[topic.qid].values()) > 0}
    return None if useful != set(values) else {topic.qid: values.get(topic.qid, 0.0) for topic in topics}


def _comparison_record(
    measured: list[MeasuredSystem], measures: list[str], topics: list[Topic], against: str, named: str
) -> dict[str, Any]:
    """Means, comparisons with the baseline, and the differences per topic, the largest gains first."""
    if not measured:
        return {"baseline": None, "against": None, "systems": [], "comparisons": [], "topics": []}
    measure = measures[0]
    baseline = _choose_baseline(measured, measure, named)
    others = [each for each in measured if each is not baseline]
    fair = [each for each in others if each.is_fair]
    best = max(fair or others, key=lambda each: float(np.mean(each.values_of(measure))), default=baseline)
    shown = next((each for each in others if each.system.name == against), best)
    values = {each.system.name: each.values_of(measure).tolist() for each in measured}
    rows = {qid: row for row, qid in enumerate(baseline.evaluation.qids)}
    per_topic = [
        {
            "qid": topic.qid,
            "text": topic.text,
            "values": {name: column[rows[topic.qid]] for name, column in values.items()},
            "difference": _difference(*(values[each.system.name][rows[topic.qid]] for each in (shown, baseline))),
        }
        for topic in topics
    ]
    return {
        "baseline": baseline.system.name,
        "against": None if shown is baseline else shown.system.name,
        "systems": [_measured_record(each, measures) for each in measured],
        "comparisons": _comparisons(baseline, others, measure),
        "topics": sorted(per_topic, key=lambda row: -float(row["difference"])),
    }


def _choose_baseline(measured: Sequence[MeasuredSystem], measure: str, named: str) -> MeasuredSystem:
    """The baseline that is named; by default the first system that has not learnt from these topics."""
    scorers = [each for each in measured if each.system.kind != "model"]
    if named == BEST and scorers:
        return max(scorers, key=lambda each: each.evaluation.mean(measure))
    for each in measured:
        if each.system.name == named or (named in ("", BEST) and each.bundle is None):
            return each
    return measured[0]


def _difference(value: float, other: float) -> float:
    """value − other; 0 within rounding, as in the counts of wins and losses."""
    return value - other if abs(value - other) > TIE_TOLERANCE else 0.0


def _comparisons(baseline: MeasuredSystem, others: list[MeasuredSystem], measure: str) -> list[dict[str, Any]]:
    """Each system against the baseline; p is corrected over the systems that have not learnt from these topics."""
    unbiased = [each for each in others if baseline.bundle is None and each.bundle is None]
    tested: dict[str, Comparison] = {}
    if unbiased:
        evaluations = [each.evaluation for each in (baseline, *unbiased)]
        tested = {each.name_a: each for each in compare_evaluations(evaluations, measures=[measure]).comparisons}
    labels = {each.system.name: each.system.label for each in (baseline, *others)}
    records = []
    for other in others:
        name = other.system.name
        values = other.values_of(measure), baseline.values_of(measure)
        comparison = tested.get(name) or compare_values(name, values[0], baseline.system.name, values[1], measure)
        corrected = comparison.p if comparison.p_corrected is None else comparison.p_corrected
        records.append(
            {
                "name": name,
                "sentence": _labelled(comparison, labels) if name in tested else _warning(other, baseline),
                "wins": comparison.wins,
                "losses": comparison.losses,
                "ties": comparison.ties,
                "difference": comparison.difference,
                "p": corrected if name in tested else None,
            }
        )
    return records


def _labelled(comparison: Comparison, labels: Mapping[str, str]) -> str:
    """The sentence of a comparison, with labels instead of names."""
    return replace(comparison, name_a=labels[comparison.name_a], name_b=labels[comparison.name_b]).sentence()


def _warning(other: MeasuredSystem, baseline: MeasuredSystem) -> str:
    """The sentence for a comparison with a model that has learnt from these topics."""
    model = other if other.bundle is not None else baseline
    seen = f"{model.system.label} has learnt from these topics, so measuring it on them is no test"
    verdict = model.trial.get("verdict") if model is other else None
    when = "" if model.cross_validated else ", on the topics and judgments of that time,"
    return f"{seen}; its cross-validation{when} says: {verdict}" if verdict else f"{seen}."


def _measured_record(measured: MeasuredSystem, measures: list[str]) -> dict[str, Any]:
    return {
        **system_record(measured.system),
        "means": {name: measured.evaluation.mean(name) for name in measures},
        "judged": measured.evaluation.mean(JUDGED),
        "learnt_from_these": measured.bundle is not None,
        "cross_validated": measured.cross_validated,
        "held_out": measured.held_out is not None,
    }
