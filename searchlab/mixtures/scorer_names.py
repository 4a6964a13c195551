"""Which scorers are there, those that had to learn first included?"""

from __future__ import annotations

from collections.abc import Mapping

from searchlab.scorers.base import Scorer
from searchlab.scorers.execution.dense_scoring import AnyScorer, DenseScorer
from searchlab.scorers.plsa import PLSA, WTM
from searchlab.scorers.registry import SCORERS, make_of

# Those that score every document.
DENSE_SCORERS: dict[str, type[DenseScorer]] = {"plsa": PLSA, "wtm": WTM}

_ALL: dict[str, type[Scorer] | type[DenseScorer]] = {**SCORERS, **DENSE_SCORERS}
EVERY_SCORER = {name: _ALL[name] for name in sorted(_ALL)}


def make_scorer(name: str, settings: Mapping[str, str] | None = None) -> AnyScorer:
    """A scorer by its name, with settings as a user writes them: `make_scorer("dirichlet", {"mu": "500"})`."""
    return make_of(EVERY_SCORER, name, settings)
