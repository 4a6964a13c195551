"""The scorer of a search, as a caller gives it.

The registry, which imports all scorers, is loaded only for names: most searches do not need it.
"""

from __future__ import annotations

from searchlab.errors import SettingError, not_an_object
from searchlab.scorers.base import Scorer
from searchlab.scorers.bm25 import BM25

DEFAULT_SCORER = BM25()


def as_scorer(scorer: Scorer | str | None) -> Scorer:
    """A scorer, given as such or by its name; BM25 if there is none."""
    if scorer is None:
        return DEFAULT_SCORER
    if isinstance(scorer, Scorer):
        return scorer
    from searchlab.scorers.registry import SCORERS, make_scorer

    if isinstance(scorer, str):
        return make_scorer(scorer)
    if isinstance(scorer, type) and issubclass(scorer, Scorer):
        raise not_an_object("scorer", scorer)
    names = ", ".join(SCORERS)
    raise SettingError(f"scorer is {scorer!r}, expected a scorer such as BM25(k1=0.9), or its name: {names}")
