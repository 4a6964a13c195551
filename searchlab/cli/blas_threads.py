"""The number of threads of BLAS, which NumPy multiplies matrices with."""

from __future__ import annotations

import os

_THREADS = "OPENBLAS_NUM_THREADS"


def load_numpy_with_one_thread() -> None:
    """Load NumPy with a single thread of BLAS, unless the environment says how many.

    A server answers several requests at a time, and multiplies small matrices. If the threads of a product wait for
    processors that other requests use, a product of a third of a millisecond takes ten (measured on two busy cores).
    Processes that are started later do not inherit the setting.
    """
    given = os.environ.get(_THREADS)
    os.environ[_THREADS] = given or "1"
    import numpy  # noqa: F401  (BLAS reads the environment when it is loaded)

    if given is None:
        del os.environ[_THREADS]
