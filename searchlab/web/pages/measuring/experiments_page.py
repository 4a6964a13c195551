"""The pages of experiments: the list with the form to start one, and the results of one with links to its topics."""

from __future__ import annotations

from typing import Any

from searchlab.experiments.stored_results import FIGURES, StoredExperiment
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.web.api.judging.judge import list_topic_sets
from searchlab.web.api.measuring import experiments
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import find_stored
from searchlab.web.api.training.train import TRAINABLE_RANKERS
from searchlab.web.http_errors import NotFound
from searchlab.web.jobs.job_journal import list_interrupted, remove_from_journal
from searchlab.web.pages.job_cards import choose_shown_job
from searchlab.web.pages.judging.judge_page import choose_topic_set, collection_to_import, reported_change
from searchlab.web.pages.measuring.measure_page import OFFERED_MEASURES
from searchlab.web.pages.page import SHOWN_SET, BrowserSession, page_url
from searchlab.web.pages.plain_words import plain_measure, plain_ranker
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# Documents of each ranking of a topic that are shown.
SHOWN_DEPTH = 10

ANY_TOPIC = Parameter("qid", "string", "the topic whose rankings are shown", default="", max_length=200)
SHOWN_MEASURE = Parameter("measure", "string", "the measure of the table of topics", default="", max_length=60)


def experiments_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The experiments of an index, the one that is under way, and the form to start one."""
    sets = list_topic_sets(state)
    topic_sets = sorted(sets["topic_sets"], key=lambda each: -each["n_judgments"])
    chosen = choose_topic_set(topic_sets, values["topic_set"])
    listed = experiments.list_experiments(state)
    jobs = listed["jobs"]
    card = choose_shown_job(jobs)
    return {
        "topic_sets": topic_sets,
        "collection": collection_to_import(sets),
        "chosen": chosen["name"] if chosen else None,
        SHOWN_SET: chosen["name"] if chosen else "",
        "changed": reported_change(state, values["change"]),
        "n_judgments": sum(each["n_judgments"] for each in topic_sets),
        "experiments": listed["experiments"],
        "job": card.shown,
        "waiting": card.waiting,
        "cancelled": card.cancelled,
        "interrupted": list_interrupted(state.index.folder, "experiment", {job["name"] for job in jobs}),
        "compared": list(experiments.DEFAULT_SYSTEMS),
        "trained": list(experiments.DEFAULT_RANKERS),
        "rankers": [
            (name, plain_ranker(name, RANKERS[name].description), RANKERS[name].description)
            for name in TRAINABLE_RANKERS
        ],
        "measures": list(experiments.DEFAULT_MEASURES),
        "offered": list(OFFERED_MEASURES),
        "meanings": {name: plain_measure(name) for name in OFFERED_MEASURES},
    }


def experiment_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The results of an experiment; with a topic, the rankings of all systems for it."""
    experiment = experiments.find_experiment(state, values["name"])
    measure = values["measure"] if values["measure"] in experiment.measures else experiment.measures[0]
    names = [each.name for each in experiment.systems]
    return {
        "experiment": experiment,
        "measure": measure,
        "best": {each: max(system.means[each] for system in experiment.systems) for each in experiment.measures},
        "meanings": {name: plain_measure(name) for name in experiment.measures},
        "figures": [(name, words) for name, words in FIGURES.items() if (experiment.folder / f"{name}.svg").is_file()],
        "has_report": experiment.name in state.reports,
        "rows": topic_rows(experiment, measure, names),
        "names": names,
        "topic": _topic_rankings(state, experiment, values["qid"]) if values["qid"] else None,
    }


def topic_rows(experiment: StoredExperiment, measure: str, names: list[str]) -> list[dict[str, Any]]:
    """A row for each topic: the values of all systems, the largest gain over the baseline first."""
    rows = []
    for qid, of_systems in experiment.values.items():
        found = [of_systems.get(name, {}).get(measure) for name in names]
        before = of_systems.get(experiment.baseline, {}).get(measure, 0.0)
        others = [value for name, value in zip(names, found, strict=True) if name != experiment.baseline]
        best = max((value for value in others if value is not None), default=before)
        rows.append({"qid": qid, "text": experiment.topics.get(qid, ""), "values": found, "gain": best - before})
    return sorted(rows, key=lambda row: -row["gain"])


def _topic_rankings(state: RequestState, experiment: StoredExperiment, qid: str) -> dict[str, Any]:
    """The first documents of each system for a topic, with their titles and the grades in the topic set, if known."""
    if qid not in experiment.values:
        raise NotFound(f"the experiment {experiment.name} has no topic {qid[:60]!r}")
    sides = [
        (system.name, [_document(state.index, docno) for docno in experiment.ranking(system, qid, SHOWN_DEPTH)])
        for system in experiment.systems
    ]
    return {"qid": qid, "text": experiment.topics.get(qid, ""), "sides": sides}


def _document(index: OpenIndex, docno: str) -> dict[str, Any]:
    """A document by its title; one that is not in the index any more has no link."""
    try:
        return {"docno": docno, "title": find_stored(index, docno).title.strip(), "is_there": True}
    except NotFound:
        return {"docno": docno, "title": "", "is_there": False}


def start_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Start an experiment."""
    experiments.start_experiment(state, **values)
    return page_url(state, "/experiments", topic_set=values["topic_set"])


def cancel_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Cancel an experiment."""
    experiments.cancel_experiment(state, id=values["id"])


def dismiss_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> None:
    """Forget an experiment that was interrupted."""
    remove_from_journal(state.index.folder, "experiment", values["name"])
