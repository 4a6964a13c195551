"""All schemas of answers: by method and path, and those with names, to which the others refer."""

from __future__ import annotations

from searchlab.web.api.answers import judging_answers, measuring_answers, search_answers, training_answers
from searchlab.web.api.answers.schema_types import Answers, Schema

SUBJECTS = (search_answers, judging_answers, training_answers, measuring_answers)
NAMED_SCHEMAS: dict[str, Schema] = {name: schema for each in SUBJECTS for name, schema in each.SCHEMAS.items()}
ANSWERS: Answers = {endpoint: schema for each in SUBJECTS for endpoint, schema in each.ANSWERS.items()}
