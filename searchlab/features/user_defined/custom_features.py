"""Features that a user writes in Python.

    @searchlab.feature("own.recency", "1 / (1 + age by year)")
    def recency(candidates):
        year = candidates.numbers("year")
        return 1 / (1 + candidates.greatest("year") - year)

The function gets the candidates of one query and returns a number for each. NaN is an undefined value, and infinite
values count as undefined. The feature is then known by its name wherever features are named; a model that uses it
records the module that defines it (see `searchlab.extensions`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, StoreError
from searchlab.extensions import Origin, failure, register
from searchlab.features.catalogue import CATALOGUE, FAMILIES, FEATURE, measured_feature
from searchlab.features.query_context import QueryCandidates, QueryContext
from searchlab.indexing.storage.columns import STREAMS
from searchlab.types import Array

RESERVED_FAMILIES = FAMILIES | {"field", "external"}
# What comes before the name of a stored field.
FIELD = "field."
# Characters of a query that a message shows.
MAX_QUERY_SHOWN = 60


FeatureFunction = Callable[[QueryCandidates], npt.ArrayLike]
F = TypeVar("F", bound=FeatureFunction)


def feature(name: str, formula: str, needs: Sequence[str] = ()) -> Callable[[F], F]:
    """Register a function of the candidates of a query as a feature; `formula` says in words what it computes.

    The name is a family of your own, a dot, and a word: `own.recency`. `needs` may name what has to be there, streams
    (`title`) and stored fields (`field.year`), which is read and checked before the function is called; what it asks
    its candidates for beyond that is read then. The function is returned as it is.
    """
    family, dot, rest = name.partition(".") if isinstance(name, str) else ("", "", "")
    if not (family and dot and rest):
        raise SettingError(f"feature is called {name!r}, expected a family and a word, such as own.recency")
    if family in RESERVED_FAMILIES and name not in CATALOGUE:
        raise SettingError(f"feature {name}: {family} is a family of searchlab, expected another, such as own")
    if not isinstance(formula, str) or len(formula.splitlines()) != 1:
        raise SettingError(f"feature {name}: formula is {formula!r}, expected a line of text")
    wanted = _check_needs(name, needs)

    def add(function: F) -> F:
        if not inspect.isfunction(function):
            raise SettingError(f"feature {name} is {type(function).__name__}, expected a function")
        origin = Origin.of(function)
        made = measured_feature(
            name, formula, origin.place, lambda query: _compute(name, function, wanted, query), version=origin.digest
        )
        register(CATALOGUE, FEATURE, name, made, function)
        return function

    return add


def _check_needs(name: str, needs: Sequence[str]) -> tuple[str, ...]:
    several = (needs,) if isinstance(needs, str) else tuple(needs)
    for need in several:
        if need not in STREAMS and not (isinstance(need, str) and need.startswith(FIELD) and need != FIELD):
            expected = f"{', '.join(STREAMS)} or a stored field, such as {FIELD}year"
            raise SettingError(f"feature {name} needs {need!r}, expected {expected}")
    return several


def _compute(name: str, function: FeatureFunction, needs: Sequence[str], query: QueryContext) -> Array:
    """The column of a user's function, checked."""
    candidates = query.candidates
    for need in needs:
        try:
            _ = candidates.counts(need) if need in STREAMS else candidates.numbers(need.removeprefix(FIELD))
        except SettingError as error:
            raise SettingError(f"feature {name}: {error}") from None
    try:
        column = np.asarray(function(candidates))
    except StoreError:
        raise
    except Exception as error:
        raise failure(f"feature {name} failed for query {query.text[:MAX_QUERY_SHOWN]!r}", function, error) from error
    if column.shape != (len(candidates),) or column.dtype.kind not in "biuf":
        found = f"an array of {column.dtype} with shape {column.shape}"
        expected = f"a number for each of {len(candidates)} candidates, NaN if undefined"
        raise SettingError(f"feature {name} returned {found}, expected {expected}")
    return column.astype(np.float64)
