"""Measures that a user writes in Python.

    @searchlab.measure("Found", "1 if any document is relevant")
    def found(topic):
        return float(topic.is_relevant.any())

The function gets the grades of one topic and returns a number. The measure is then known by its name wherever measures
are named, also with a cutoff and a lowest relevant grade, `Found(rel=2)@10`; the mean over topics is its summary.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.kernels.measure_kernels import UNJUDGED
from searchlab.evaluation.measure_families import FAMILIES, OPTIONAL, TREC_NAMES, Family
from searchlab.evaluation.measures import families_by_name
from searchlab.extensions import Origin, failure, register
from searchlab.types import Flags, Floats, Ints

# The kind of thing in the registry of extensions.
MEASURE = "measure"
# What the compiled loops compute in the column of such a measure, before the function's values replace it.
_PLACEHOLDER = "NumQ"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, eq=False)
class GradedTopic:
    """The grades of a topic, as a measure sees them.

    `ranked` has the grades of the retrieved documents, best score first, down to the cutoff; an unjudged document has
    0, and `is_judged` tells it from others. `judged` has the grades of all judged documents, highest first. `cutoff` is
    None without one, `rel` is the lowest relevant grade.
    """

    ranked: Ints
    is_judged: Flags
    judged: Ints
    cutoff: int | None
    rel: int

    @property
    def is_relevant(self) -> Flags:
        """Whether each of the ranked documents is relevant."""
        return self.is_judged & (self.ranked >= self.rel)

    @property
    def n_relevant(self) -> int:
        """The number of relevant documents, retrieved or not."""
        return int(np.count_nonzero(self.judged >= self.rel))


MeasureFunction = Callable[[GradedTopic], float]
F = TypeVar("F", bound=MeasureFunction)


def measure(name: str, description: str) -> Callable[[F], F]:
    """Register a function of the grades of a topic as a measure; `description` says in a line what it computes.

    The name is letters, digits, - and _. The function is returned as it is.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingError(f"measure is called {name!r}, expected a letter, then letters, digits, - or _")
    if name not in FAMILIES and (name in families_by_name() or name.rstrip("0123456789").rstrip("_") in TREC_NAMES):
        raise SettingError(f"measure {name} is built in, expected another name")
    if not isinstance(description, str) or len(description.splitlines()) != 1:
        raise SettingError(f"measure {name}: description is {description!r}, expected a line of text")

    def add(function: F) -> F:
        if not inspect.isfunction(function):
            raise SettingError(f"measure {name} is {type(function).__name__}, expected a function")

        def evaluate(ranked: Ints, offsets: Ints, ideal: Ints, ideal_offsets: Ints, cutoff: int, rel: int) -> Floats:
            bounds = zip(offsets[:-1], offsets[1:], ideal_offsets[:-1], ideal_offsets[1:], strict=True)
            return np.array(
                [
                    _compute(name, function, _topic(ranked[start:end], ideal[first:after], cutoff, rel))
                    for start, end, first, after in bounds
                ],
                np.float64,
            )

        origin = Origin.of(function)
        family = Family(
            name, description, OPTIONAL, ("rel",), kernel=_PLACEHOLDER, source=origin.place, function=evaluate
        )
        register(FAMILIES, MEASURE, name, family, function)
        return function

    return add


def _topic(ranked: Ints, ideal: Ints, cutoff: int, rel: int) -> GradedTopic:
    first = ranked[: cutoff or None]
    is_judged = first > UNJUDGED
    return GradedTopic(np.where(is_judged, first, 0), is_judged, ideal[ideal > UNJUDGED], cutoff or None, rel)


def _compute(name: str, function: MeasureFunction, topic: GradedTopic) -> float:
    """The value of a user's function, checked."""
    try:
        value: Any = function(topic)
        number = float(value)
    except Exception as error:
        raise failure(f"measure {name} failed", function, error) from error
    if not math.isfinite(number):
        grades = ", ".join(map(str, topic.ranked[:5].tolist()))
        found = f"{number} for grades {grades}" if grades else f"{number} for no document"
        raise SettingError(f"measure {name} returned {found}, expected a finite number")
    return number
