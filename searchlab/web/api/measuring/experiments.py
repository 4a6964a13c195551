"""Experiments on the judgments of an index: what was run, and starting one in the background.

Results lie in `INDEX.experiments/NAME` beside the index; those that `searchlab experiment` wrote to the folder of
reports are listed, too.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from searchlab.errors import SearchlabError, SettingError
from searchlab.evaluation.measures import parse_measure
from searchlab.experiments.experiment_results import MANIFEST
from searchlab.experiments.plan import make_slug
from searchlab.experiments.stored_results import StoredExperiment, experiments_folder, read_experiment
from searchlab.experiments.system_plans import plan_ranker, plan_scorer
from searchlab.rankers.ranker_registry import SEARCH_RANKER
from searchlab.training.cross_validation import MIN_QUERIES
from searchlab.web.api.judging.pool import topics_of_set
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.training.models import useful_judgments
from searchlab.web.api.training.train import MAX_TRAINING_TOPICS, TRAINABLE_RANKERS
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.jobs.experiment_process import ExperimentTask
from searchlab.web.jobs.training_process import judgments_fingerprint
from searchlab.web.state.request_state import RequestState

DEFAULT_SYSTEMS, DEFAULT_RANKERS = ("bm25", "bm25+rm3"), (SEARCH_RANKER,)
DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10")
MAX_COMPARED = 8

TITLE = Parameter("title", "string", "title of the experiment; by default what it compares", default="", max_length=200)
SCORERS = Parameter(
    "systems",
    "strings",
    "scorers to compare, such as bm25+rm3; the first is the baseline",
    default=DEFAULT_SYSTEMS,
    max_length=200,
    max_items=MAX_COMPARED,
)
RANKERS = Parameter(
    "rankers",
    "strings",
    f"rankers to train on folds: {', '.join(TRAINABLE_RANKERS)}",
    default=(),
    max_length=60,
    max_items=MAX_COMPARED,
)
MEASURES = Parameter(
    "measures",
    "strings",
    "measures; settings are chosen by the first",
    default=DEFAULT_MEASURES,
    max_length=60,
    max_items=MAX_COMPARED,
)
EXPERIMENT = Parameter("name", "string", "name of an experiment", max_length=200)
JOB_ID = Parameter("id", "string", "id of an experiment job", max_length=20)

log = logging.getLogger(__name__)


def list_experiments(state: RequestState) -> dict[str, Any]:
    """The experiments of an index, the latest first, and those that are under way."""
    index = state.index.name
    jobs = [job.to_json() for job in state.experiment_jobs.list() if job.index == index]
    found = sorted(find_experiments(state).values(), key=lambda each: each.started, reverse=True)
    return {"index": index, "experiments": [_record(each) for each in found], "jobs": jobs}


def find_experiments(state: RequestState) -> dict[str, StoredExperiment]:
    """The experiments of the index that can be read, by name: those beside it, and those in the folder of reports."""
    found: dict[str, StoredExperiment] = {}
    for name, path in state.reports.items():
        if not (path.parent / MANIFEST).is_file():
            continue  # a report of another kind
        try:
            experiment = read_experiment(path.parent)
        except SearchlabError as error:
            log.warning("an experiment is not listed: %s", error)
            continue
        if experiment.index == state.index.name:
            found[name] = experiment
    return found


def get_experiment(state: RequestState, *, name: str) -> dict[str, Any]:
    """The results of an experiment: means, significance, and the values of each topic."""
    experiment = find_experiment(state, name)
    topics = [
        {"qid": qid, "text": experiment.topics.get(qid, ""), "values": values}
        for qid, values in experiment.values.items()
    ]
    return {"index": state.index.name, **_record(experiment), "topics": topics}


def find_experiment(state: RequestState, name: str) -> StoredExperiment:
    """An experiment of the index by its name."""
    found = find_experiments(state)
    if name not in found:
        raise NotFound(f"the index {state.index.name} has no experiment {name[:60]!r}")
    return found[name]


def start_experiment(
    state: RequestState,
    *,
    topic_set: str,
    title: str = "",
    systems: Sequence[str] = DEFAULT_SYSTEMS,
    rankers: Sequence[str] = (),
    measures: Sequence[str] = DEFAULT_MEASURES,
) -> dict[str, Any]:
    """Compare scorers and rankers on the judgments of a topic set, in the background."""
    index = state.index
    _ = topics_of_set(state, topic_set)
    topics, qrels = useful_judgments(state, topic_set)
    if len(topics) < MIN_QUERIES:
        needed = f"at least {MIN_QUERIES} topics with a relevant document"
        raise HttpError(409, f"{topic_set} has {len(topics)}, expected {needed}", field="topic_set")
    if len(topics) > MAX_TRAINING_TOPICS:
        raise HttpError(400, f"{len(topics):,} topics, expected at most {MAX_TRAINING_TOPICS:,}", field="topic_set")
    _check(systems, rankers, measures)
    names = [parse_measure(name).name for name in measures]
    shown = (
        " ".join(title.split())
        or f"{topic_set}: {', '.join([*(plan_scorer(each).name for each in systems), *rankers])}"
    )
    key = json.dumps([index.name, judgments_fingerprint(topics, qrels), *map(list, (systems, rankers, names))])
    name = f"{make_slug(topic_set)[:40] or 'experiment'}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    output = experiments_folder(index.folder) / name
    if name in find_experiments(state):
        raise HttpError(409, "this experiment was run on the same judgments already: open it below")
    folder = str(index.folder.absolute())
    task = ExperimentTask(
        folder, str(output.absolute()), shown, topic_set, topics, qrels, tuple(systems), tuple(rankers), tuple(names)
    )
    return state.experiment_jobs.start(index.name, name, task).to_json()


def list_jobs(state: RequestState) -> dict[str, Any]:
    """The experiment jobs since the start of the server, the latest first."""
    return {"jobs": [job.to_json() for job in state.experiment_jobs.list()]}


def cancel_experiment(state: RequestState, *, id: str) -> dict[str, Any]:
    """Stop an experiment; what it has computed is used if it is started again."""
    return state.experiment_jobs.cancel(id).to_json()


def _check(systems: Sequence[str], rankers: Sequence[str], measures: Sequence[str]) -> None:
    """Report a mistake at the field where it is."""
    fields: tuple[tuple[str, Sequence[str], Callable[[str], Any]], ...] = (
        ("systems", systems, plan_scorer),
        ("rankers", rankers, plan_ranker),
        ("measures", measures, parse_measure),
    )
    for field, names, plan in fields:
        try:
            for name in names:
                plan(name)
        except SettingError as error:
            raise HttpError(400, str(error), field=field) from None
    if len({*systems, *rankers}) < 2:
        raise HttpError(400, "choose at least two systems or rankers to compare", field="systems")


def _record(experiment: StoredExperiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "lead": experiment.lead,
        "started": experiment.started,
        "n_topics": len(experiment.topics),
        "measures": list(experiment.measures),
        "baseline": experiment.baseline,
        "systems": [
            {
                "name": each.name,
                "description": each.description,
                "means": dict(each.means),
                "significance": dict(each.significance),
            }
            for each in experiment.systems
        ],
    }
