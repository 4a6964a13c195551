"""How good are the rankers on the topics that were judged, and is one better than another?

A model that has learnt from some of these topics does better on them than on others: that is no test of it. Its numbers
are marked, and instead of a comparison stands what its cross-validation said; if that was by the same topics and
judgments, its means stand beside those of the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

from searchlab.errors import unknown_name
from searchlab.evaluation.comparison import Comparison, check_comparable, compare_evaluations, compare_values
from searchlab.evaluation.measures import parse_measure
from searchlab.evaluation.run_evaluation import Evaluation, evaluate_run
from searchlab.evaluation.significance import TIE_TOLERANCE
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.systems import MODEL, System
from searchlab.records import Topic
from searchlab.web.api.collection_topics import has_learnt_from
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import INDEX, JUDGE, SET, Parameter
from searchlab.web.api.pool import set_topics
from searchlab.web.api.search import ranker_record
from searchlab.web.api.topic_rankings import DEPTH, MOST_TOPICS, RANKERS, chosen_rankers, rank_all
from searchlab.web.api.train import trial_of
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened
from searchlab.web.state.result_cache import Memory

JUDGED = "Judged@10"
MEASURES = ("nDCG@10", "AP", "P@10")
# Where the title of a report is found.
TITLE = re.compile(rb"<title>([^<]{1,300})</title>")
HEAD = 8192
# Means of the same rankings by the same judgments differ by no more than rounding.
SAME = 1e-9

_REMEMBERED = Memory(32)


@dataclass(frozen=True)
class Measured:
    """A ranker and what it is worth; `bundle` is the model, if it has learnt from topics that are measured.

    `cross_validated` are the means of its cross-validation, if they can be held against those of other rankers here.
    """

    system: System
    evaluation: Evaluation
    bundle: Bundle | None
    cross_validated: Mapping[str, float] | None = None

    @property
    def trial(self) -> Mapping[str, Any]:
        """What cross-validation said of the model."""
        return {} if self.bundle is None else trial_of(self.bundle)


def measure(
    desk: Desk,
    *,
    index: str | None,
    set: str,
    rankers: Sequence[str] = (),
    measures: Sequence[str] = (),
    judge: str = "",
    against: str = "",
) -> dict[str, Any]:
    """Measures of rankers on the topics of a set, topic by topic, and whether they beat the baseline, the first one.

    `against` is the ranker whose differences from the baseline are told for each topic, by default the best one.
    """
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    systems = chosen_rankers(opened, rankers)
    named = list(dict.fromkeys(parse_measure(name).name for name in measures or MEASURES))
    check_comparable(named[0])
    if against and against not in [system.name for system in systems]:
        raise unknown_name("ranker to hold against the baseline", against, [system.name for system in systems])

    def work() -> dict[str, Any]:
        known = set_topics(store, opened, set)
        grades = store.grades(set, judge or None)
        judged = [topic for topic in known if topic.qid in grades]
        asked = judged[:MOST_TOPICS]
        found = _measured(desk, opened, systems, asked, grades, named) if asked else []
        return {
            "index": opened.name,
            "set": set,
            "judge": judge,
            "measures": named,
            **_compared(found, named, asked, against),
            "n_topics": len(asked),
            "n_without_relevant": sum(max(grades[topic.qid].values()) < 1 for topic in asked),
            "n_unjudged_topics": len(known) - len(judged),
            "n_left_out": len(judged) - len(asked),
        }

    key = (store.version(), set, tuple(system.name for system in systems), tuple(named), judge, against)
    answer = deepcopy(_REMEMBERED.get(opened, key, work))
    return answer | {"reports": reports(desk)}


def reports(desk: Desk) -> list[dict[str, str]]:
    """The reports of experiments."""
    return [{"name": name, "title": _title(path, name)} for name, path in desk.reports.items()]


def _measured(
    desk: Desk,
    opened: Opened,
    systems: list[System],
    topics: list[Topic],
    grades: dict[str, dict[str, int]],
    measures: list[str],
) -> list[Measured]:
    """Search all topics by all rankers, and measure what they find."""
    qrels = {topic.qid: grades[topic.qid] for topic in topics}
    runs = rank_all(desk, opened, systems, topics, DEPTH)
    found = []
    for system in systems:
        evaluation = evaluate_run(qrels, runs[system.name], [*measures, JUDGED], complete=True, name=system.name)
        bundle = opened.models.get(system.name.removeprefix(MODEL)) if system.kind == "model" else None
        if bundle is not None and has_learnt_from(opened, bundle, topics):
            validated = _cross_validated(desk, opened, bundle, topics, qrels, measures)
            found.append(Measured(system, evaluation, bundle, validated))
        else:
            found.append(Measured(system, evaluation, None))
    return found


def _cross_validated(
    desk: Desk,
    opened: Opened,
    bundle: Bundle,
    topics: list[Topic],
    qrels: Mapping[str, Mapping[str, int]],
    measures: list[str],
) -> dict[str, float] | None:
    """What cross-validation said of a model, if that was by these topics and judgments, on this index.

    Then they are as many topics, and the search that it re-ranks, which took part, has the same means here. Topics
    without a relevant document took no part; whoever ranks them, they score 0.
    """
    means = trial_of(bundle)["means"] or {}
    first, own = bundle.first_stage, means.get(bundle.ranker, {})
    others = [kept for name, kept in means.items() if name not in (bundle.ranker, "RM3")]
    useful = [topic for topic in topics if max(qrels[topic.qid].values()) > 0]
    if first is None or len(others) != 1 or dict(bundle.trial or {}).get("n_queries") != len(useful):
        return None
    known = [name for name in measures if name in own and name in others[0]]
    if not known:
        return None
    settings = ",".join(f"{name}={value}" for name, value in first.settings.items())
    system = opened.system(f"{first.scorer}:{settings}" if settings else first.scorer)
    run = rank_all(desk, opened, [system], useful, DEPTH)[system.name]
    now = evaluate_run({topic.qid: qrels[topic.qid] for topic in useful}, run, known, complete=True)
    if any(abs(now.mean(name) - others[0][name]) > SAME for name in known):
        return None
    return {name: own[name] * len(useful) / len(topics) for name in known}


def _compared(found: list[Measured], measures: list[str], topics: list[Topic], against: str) -> dict[str, Any]:
    """Means, comparisons with the baseline, and the differences of topics, the largest gains first."""
    if not found:
        return {"baseline": None, "against": None, "rankers": [], "comparisons": [], "topics": []}
    main = measures[0]
    baseline = next((each for each in found if each.bundle is None), found[0])
    others = [each for each in found if each is not baseline]
    fair = [each for each in others if each.bundle is None]
    best = max(fair or others, key=lambda each: each.evaluation.mean(main), default=baseline)
    shown = next((each for each in others if each.system.name == against), best)
    values = {each.system.name: each.evaluation.values_of(main).tolist() for each in found}
    places = {qid: place for place, qid in enumerate(baseline.evaluation.qids)}
    per_topic = [
        {
            "qid": topic.qid,
            "text": topic.text,
            "values": {name: own[places[topic.qid]] for name, own in values.items()},
            "difference": _difference(*(values[each.system.name][places[topic.qid]] for each in (shown, baseline))),
        }
        for topic in topics
    ]
    return {
        "baseline": baseline.system.name,
        "against": None if shown is baseline else shown.system.name,
        "rankers": [_ranker(each, measures) for each in found],
        "comparisons": _comparisons(baseline, others, main),
        "topics": sorted(per_topic, key=lambda each: -float(each["difference"])),
    }


def _difference(value: float, other: float) -> float:
    """How much more the one is; 0 if that is rounding, as where topics won and lost are counted."""
    return value - other if abs(value - other) > TIE_TOLERANCE else 0.0


def _comparisons(baseline: Measured, others: list[Measured], main: str) -> list[dict[str, Any]]:
    """Each ranker against the baseline; p is corrected over those that have not learnt from these topics."""
    honest = baseline.bundle is None
    fair = [each for each in others if honest and each.bundle is None]
    tested: dict[str, Comparison] = {}
    if fair:
        evaluations = [each.evaluation for each in (baseline, *fair)]
        tested = {own.name_a: own for own in compare_evaluations(evaluations, measures=[main]).comparisons}
    told = []
    labels = {each.system.name: each.system.label for each in (baseline, *others)}
    for each in others:
        name = each.system.name
        own, other = each.evaluation.values_of(main), baseline.evaluation.values_of(main)
        compared = tested.get(name) or compare_values(name, own, baseline.system.name, other, main)
        corrected = compared.p if compared.p_corrected is None else compared.p_corrected
        told.append(
            {
                "name": name,
                "sentence": _labelled(compared, labels) if name in tested else _warning(each, baseline),
                "wins": compared.wins,
                "losses": compared.losses,
                "ties": compared.ties,
                "difference": compared.difference,
                "p": corrected if name in tested else None,
            }
        )
    return told


def _labelled(compared: Comparison, labels: Mapping[str, str]) -> str:
    """The sentence with the names that people know."""
    return replace(compared, name_a=labels[compared.name_a], name_b=labels[compared.name_b]).sentence()


def _warning(model: Measured, baseline: Measured) -> str:
    """What is told of a model that has seen these topics."""
    learnt = model if model.bundle is not None else baseline
    seen = f"{learnt.system.label} has learnt from these topics, so that measuring it by them is no test"
    verdict = learnt.trial.get("verdict") if learnt is model else None
    then = "" if learnt.cross_validated else ", by the topics and judgments of then,"
    return f"{seen}; its cross-validation{then} says: {verdict}" if verdict else f"{seen}."


def _ranker(own: Measured, measures: list[str]) -> dict[str, Any]:
    return {
        **ranker_record(own.system),
        "means": {name: own.evaluation.mean(name) for name in measures},
        "judged": own.evaluation.mean(JUDGED),
        "learnt_from_these": own.bundle is not None,
        "cross_validated": own.cross_validated,
    }


def _title(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            found = TITLE.search(file.read(HEAD))
    except OSError:
        return name
    return unescape(found.group(1).decode(errors="replace")).strip() if found else name


MEASURED = Parameter(
    "measures", "texts", "measures such as nDCG@10; rankers are compared by the first", MEASURES, many=10
)
AGAINST = Parameter(
    "against", "text", "whose differences from the baseline are told for each topic", default="", long=200
)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/measure",
        measure,
        "Measures of rankers on the judged topics of a set, and what wins and losses they have",
        (INDEX, SET, RANKERS, MEASURED, JUDGE, AGAINST),
        slow=True,
    ),
)
