"""Routes of measures."""

from __future__ import annotations

from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.judging import judge
from searchlab.web.api.measuring import measure
from searchlab.web.api.measuring.topic_rankings import SYSTEMS
from searchlab.web.api.parameters import (
    INDEX,
    JUDGE,
    TOPIC_SET,
)
from searchlab.web.pages.measuring import measure_page
from searchlab.web.pages.page import Page

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/measure",
        measure.measure_systems,
        "Measures of systems on the judged topics of a set, and comparisons with a baseline",
        (INDEX, TOPIC_SET, SYSTEMS, measure.MEASURES, JUDGE, measure.AGAINST_SYSTEM),
        slow=True,
    ),
)

PAGES = (
    Page(
        "/measure",
        "measure.html",
        "measure",
        measure_page.measure_page,
        (INDEX, judge.ANY_TOPIC_SET, SYSTEMS, measure_page.ANY_MEASURES, measure.AGAINST_SYSTEM),
        slow=True,
    ),
)
