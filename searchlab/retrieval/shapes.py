"""Which shapes can the gain of a matching term have?

The formula is written once: NumPy evaluates it for arrays, numba compiles it for the kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SATURATION, LOGARITHM, DAMPING = 0, 1, 2


def gain(shape: int, tf: Any, weight: Any, factor: Any, norm: Any, shift: float) -> Any:
    """What a document gains by having a term.

    SATURATION  weight · tf / (tf + norm)
    LOGARITHM   weight · ln(1 + (tf - shift)·factor·norm)
    DAMPING     weight · (1 + ln(1 + ln tf)) · norm
    """
    if shape == SATURATION:
        return weight * tf / (tf + norm)
    if shape == LOGARITHM:
        return weight * np.log1p((tf - shift) * factor * norm)
    return weight * (1.0 + np.log1p(np.log(tf))) * norm


def gainless_norm(shape: int) -> float:
    """The norm of a document that gains nothing, whatever it has."""
    return np.inf if shape == SATURATION else 0.0
