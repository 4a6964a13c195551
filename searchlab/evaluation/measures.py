"""How good is a ranking?

The front door of the room: measures by name (`naming`), the rules that they follow (`dialects`), and what evaluates
the scores of a model (`scores`) or a run (`runs`).
"""

from __future__ import annotations

from searchlab.evaluation.dialects import DIALECTS, Dialect, make_dialect
from searchlab.evaluation.naming import FAMILIES, Measure, parse_measure, parse_measures
from searchlab.evaluation.runs import Evaluation, evaluate_run
from searchlab.evaluation.scores import evaluate_scores

__all__ = [
    "DIALECTS",
    "FAMILIES",
    "Dialect",
    "Evaluation",
    "Measure",
    "evaluate_run",
    "evaluate_scores",
    "make_dialect",
    "parse_measure",
    "parse_measures",
]
