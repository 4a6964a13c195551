"""Routes of measures and experiments."""

from __future__ import annotations

from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.judging import judge
from searchlab.web.api.measuring import experiments, measure
from searchlab.web.api.measuring.topic_rankings import SYSTEMS
from searchlab.web.api.parameters import (
    INDEX,
    JUDGE,
    TOPIC_SET,
)
from searchlab.web.pages.judging.topic_page import ANY_CHANGE
from searchlab.web.pages.measuring import experiments_page, measure_page
from searchlab.web.pages.page import Form, Page

STARTING = (
    *(INDEX, TOPIC_SET, experiments.TITLE),
    *(experiments.SCORERS, experiments.RANKERS, experiments.MEASURES),
)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/measure",
        measure.measure_systems,
        "Measures of systems on the judged topics of a set, and comparisons with a baseline",
        (INDEX, TOPIC_SET, SYSTEMS, measure.MEASURES, JUDGE, measure.AGAINST_SYSTEM, measure.BASELINE),
        slow=True,
    ),
    Endpoint("GET", "/api/experiments", experiments.list_experiments, "The experiments of an index", (INDEX,)),
    Endpoint(
        "GET",
        "/api/experiment",
        experiments.get_experiment,
        "The results of an experiment, with the values of each topic",
        (INDEX, experiments.EXPERIMENT),
    ),
    Endpoint(
        "POST",
        "/api/experiments",
        experiments.start_experiment,
        "Compare scorers and rankers on the judgments of a topic set, in the background",
        STARTING,
    ),
    Endpoint("GET", "/api/experiments/jobs", experiments.list_jobs, "All experiment jobs"),
    Endpoint(
        "POST", "/api/experiments/cancel", experiments.cancel_experiment, "Stop an experiment", (experiments.JOB_ID,)
    ),
)

PAGES = (
    Page(
        "/measure",
        "measure.html",
        "measure",
        measure_page.measure_page,
        (
            INDEX,
            judge.ANY_TOPIC_SET,
            SYSTEMS,
            measure_page.ANY_MEASURES,
            measure.AGAINST_SYSTEM,
            measure.BASELINE,
            ANY_CHANGE,
        ),
        slow=True,
    ),
    Page(
        "/experiments",
        "experiments.html",
        "measure",
        experiments_page.experiments_page,
        (INDEX, judge.ANY_TOPIC_SET, ANY_CHANGE),
    ),
    Page(
        "/experiment",
        "experiment.html",
        "measure",
        experiments_page.experiment_page,
        (INDEX, experiments.EXPERIMENT, experiments_page.SHOWN_MEASURE, experiments_page.ANY_TOPIC),
        heavy=True,
    ),
)

FORMS = (
    Form("/experiments", experiments_page.start_form, STARTING),
    Form("/experiments/cancel", experiments_page.cancel_form, (experiments.JOB_ID,)),
    Form("/experiments/dismiss", experiments_page.dismiss_form, (INDEX, experiments.EXPERIMENT)),
)
