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
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, StoreError
from searchlab.extensions import Origin, failure, register
from searchlab.features.catalogue import CATALOGUE, FAMILIES, FEATURE, measured_feature
from searchlab.features.query_context import QueryCandidates, QueryContext
from searchlab.types import Array

RESERVED_FAMILIES = FAMILIES | {"field", "external"}
# Characters of a query that a message shows.
MAX_QUERY_SHOWN = 60


FeatureFunction = Callable[[QueryCandidates], npt.ArrayLike]
F = TypeVar("F", bound=FeatureFunction)


def feature(name: str, formula: str) -> Callable[[F], F]:
    """Register a function of the candidates of a query as a feature; `formula` says in words what it computes.

    The name is a family of your own, a dot, and a word: `own.recency`. The function is returned as it is.
    """
    family, dot, rest = name.partition(".") if isinstance(name, str) else ("", "", "")
    if not (family and dot and rest):
        raise SettingError(f"feature is called {name!r}, expected a family and a word, such as own.recency")
    if family in RESERVED_FAMILIES and name not in CATALOGUE:
        raise SettingError(f"feature {name}: {family} is a family of searchlab, expected another, such as own")
    if not isinstance(formula, str) or len(formula.splitlines()) != 1:
        raise SettingError(f"feature {name}: formula is {formula!r}, expected a line of text")

    def add(function: F) -> F:
        if not inspect.isfunction(function):
            raise SettingError(f"feature {name} is {type(function).__name__}, expected a function")
        origin = Origin.of(function)
        made = measured_feature(
            name, formula, origin.place, lambda query: _compute(name, function, query), version=origin.digest
        )
        register(CATALOGUE, FEATURE, name, made, function)
        return function

    return add


def _compute(name: str, function: FeatureFunction, query: QueryContext) -> Array:
    """The column of a user's function, checked."""
    candidates = query.candidates
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
