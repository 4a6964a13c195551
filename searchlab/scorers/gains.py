"""The shapes that the gain of a matching term can have, which the top-k kernel is compiled for.

The formula is written once: NumPy evaluates it for arrays, numba compiles it for the kernel. Their logarithms differ
in the last bit for some numbers, because NumPy's are vectorised and numba's are those of the C library; where a search
must give the kernel's scores, `exact_gain` uses the C library's, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

SATURATION, LOGARITHM, DAMPING = 0, 1, 2

Gain = Callable[..., Any]


def make_gain(log: Callable[[Any], Any], log1p: Callable[[Any], Any]) -> Gain:
    """The formula of the gain with these functions for ln(x) and ln(1 + x)."""

    def gain(shape: int, tf: Any, weight: Any, factor: Any, norm: Any, shift: float) -> Any:
        """What a document gains by having a term.

        SATURATION  weight · tf / (tf + norm)
        LOGARITHM   weight · ln(1 + (tf - shift)·factor·norm)
        DAMPING     weight · (1 + ln(1 + ln tf)) · norm
        """
        if shape == SATURATION:
            return weight * tf / (tf + norm)
        if shape == LOGARITHM:
            return weight * log1p((tf - shift) * factor * norm)
        return weight * (1.0 + log1p(log(tf))) * norm

    return gain


def _of_each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of the C library, applied to arrays: called once for each of the few distinct numbers."""

    def of_each(numbers: Any) -> Any:
        distinct, inverse = np.unique(numbers, return_inverse=True)
        return np.array([function(number) for number in distinct.tolist()])[inverse].reshape(np.shape(numbers))

    return of_each


gain = make_gain(np.log, np.log1p)
exact_gain = make_gain(_of_each(math.log), _of_each(math.log1p))
