"""Scorers that a user writes in Python.

    @searchlab.scorer("damped")
    @dataclass(frozen=True)
    class Damped(searchlab.FormulaScorer):
        power: float = 0.5

        def weigh(self, tf, length, term, unique_length):
            return tf**self.power * np.log(term.n_docs / term.doc_freq)

The scorer is then known by its name wherever scorers are named. It is tried out when it is registered, and what its
methods return is checked: all weights are finite. A `PostingScorer` has the parts of the formula that the compiled
kernel takes as well; they have to agree with `weigh`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from searchlab.errors import SearchlabError, SettingError
from searchlab.extensions import failure, register
from searchlab.records import TermStats
from searchlab.scorers.base import FormulaScorer, PostingScorer, Scorer
from searchlab.scorers.gains import gain
from searchlab.scorers.registry import SCORER, SCORERS
from searchlab.types import Array

# The methods of scorers that return numbers.
_NUMBERS = ("weigh", "term_weight", "term_factor", "background", "doc_norm", "doc_bias")
# What a new scorer is tried out with: documents with and without the term, and a rare and a frequent term.
_TFS, _LENGTHS, _UNIQUES = np.array([0.0, 1, 3, 40]), np.array([5.0, 10, 20, 400]), np.array([5.0, 9, 8, 200])
_TERMS = (TermStats(1000, 90000, 3, 44), TermStats(1000, 90000, 1000, 2500))
# The largest difference between a formula and its parts.
_CLOSE = 1e-9

S = TypeVar("S", bound=type[Scorer])


def scorer(name: str) -> Callable[[S], S]:
    """Register a scorer: a frozen dataclass of its settings, derived from FormulaScorer or PostingScorer.

    Each setting is a number or a text, and has a default. `label`, the name for people, is the name unless the class
    has one. The class is returned.
    """

    def add(kind: S) -> S:
        _check_class(name, kind)
        _guard_methods(name, kind)
        if not hasattr(kind, "label"):
            kind.label = name
        _try_out(name, kind)
        registered: type[Scorer] = kind
        register(SCORERS, SCORER, name, registered, kind)
        return kind

    return add


def _check_class(name: str, kind: Any) -> None:
    if not isinstance(kind, type) or not issubclass(kind, Scorer):
        found = kind.__name__ if isinstance(kind, type) else type(kind).__name__
        raise SettingError(f"scorer {name} is {found}, expected a class derived from searchlab.FormulaScorer")
    if missing := sorted(kind.__abstractmethods__):
        raise SettingError(f"scorer {name}: {kind.__name__} lacks {', '.join(missing)}")
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        expected = "expected @dataclass(frozen=True) below @searchlab.scorer(…)"
        raise SettingError(f"scorer {name}: {kind.__name__} is not a frozen dataclass, {expected}")
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING:
            raise SettingError(f"scorer {name}: setting {field.name} has no default, expected one")
    if issubclass(kind, PostingScorer) and not hasattr(kind, "shape"):
        raise SettingError(f"scorer {name}: {kind.__name__} lacks shape, expected SATURATION, LOGARITHM or DAMPING")


def _guard_methods(name: str, kind: type[Scorer]) -> None:
    """Replace the methods of the class that return numbers by ones that report exceptions and wrong values."""
    for method in _NUMBERS:
        function = vars(kind).get(method)
        if inspect.isfunction(function):
            setattr(kind, method, _guarded(f"scorer {name}", method, function))


def _guarded(what: str, method: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def guarded(self: Scorer, *arguments: Any, **named: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                result = function(self, *arguments, **named)
        except SearchlabError:
            raise
        except Exception as error:
            raise failure(f"{what}: {method} failed", function, error) from error
        if result is None and method == "doc_bias":
            return None
        return _check_numbers(f"{what}: {method}", result, np.shape(arguments[0]) if arguments else ())

    return guarded


def _check_numbers(what: str, result: Any, shape: tuple[int, ...]) -> Any:
    numbers = np.asarray(result)
    if numbers.dtype.kind not in "biuf" or numbers.shape not in (shape, ()):
        found = f"{type(result).__name__} of {numbers.dtype} with shape {numbers.shape}"
        raise SettingError(f"{what} returned {found}, expected numbers of shape {shape}")
    if not np.isfinite(numbers).all():
        raise SettingError(f"{what} returned {_first_infinite(numbers)}, expected finite numbers, also for a tf of 0")
    return np.broadcast_to(numbers, shape).astype(float) if shape else float(numbers)


def _first_infinite(numbers: Array) -> float:
    return float(numbers[~np.isfinite(numbers)].flat[0])


def _try_out(name: str, kind: type[Scorer]) -> None:
    """Compute weights of a scorer with its default settings."""
    try:
        made = kind()
    except SearchlabError:
        raise
    except Exception as error:
        raise failure(f"scorer {name} failed with its defaults", kind, error) from error
    for term in _TERMS:
        if isinstance(made, FormulaScorer | PostingScorer):
            weights = made.weigh(_TFS, _LENGTHS, term, _UNIQUES)
            if isinstance(made, PostingScorer):
                _check_parts(name, made, term, weights)


def _check_parts(name: str, made: PostingScorer, term: TermStats, weights: Array) -> None:
    """Raise SettingError unless background, bias and gain add up to the weights."""
    norms, bias = made.doc_norm(_LENGTHS, _UNIQUES, term.mean_length), made.doc_bias(_LENGTHS, _UNIQUES)
    sums = np.full(len(_TFS), made.background(term)) + (0.0 if bias is None else bias)
    some = _TFS > 0
    sums[some] += gain(made.shape, _TFS[some], made.term_weight(term), made.term_factor(term), norms[some], made.shift)
    if not np.allclose(sums, weights, rtol=_CLOSE, atol=_CLOSE):
        at = int(np.argmax(np.abs(sums - weights)))
        found = f"{sums[at]:g} by background, bias and gain, {weights[at]:g} by weigh"
        raise SettingError(f"scorer {name}: its parts do not add up for a tf of {_TFS[at]:g}: {found}")
