"""Threads of matrix products. Their number changes the order of sums, and thereby the last bits of results.

Small products are computed by one thread: it is faster, since several would mostly wait for each other, and the result
is the same on every machine. In a worker of a cluster, all others use as many threads as in the client.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
# How many threads of the program are within `one_thread`, and how to end the limit that the first of them set.
_n_within = 0
_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Run matrix products in one thread; as long as any thread of the program is within, it is so for all."""
    global _n_within, _limit
    with _lock:
        if not _n_within:
            _take_control()
            _limit = _libraries().limit(limits=1)
        _n_within += 1
    try:
        yield
    finally:
        with _lock:
            _n_within -= 1
            if not _n_within:
                _take_control()
                _limit.restore_original_limits()
                _limit = None


def count_blas_threads() -> int:
    """The number of threads that matrix products use in this process."""
    import scipy.linalg  # noqa: F401  (its library is counted, too)

    return max((int(library.num_threads) for library in _libraries().lib_controllers), default=1)


def describe_blas() -> str:
    """The libraries of matrix products of NumPy and SciPy, with the kind of processor that they are made for.

    Other packages of a program may bring libraries of their own.
    """
    import scipy.linalg  # noqa: F401

    libraries = _libraries().lib_controllers
    bundled = [each for each in libraries if "numpy" in each.filepath or "scipy" in each.filepath]
    found = [
        f"{each.internal_api} {each.version} ({getattr(each, 'architecture', None) or 'any processor'})"
        for each in bundled or libraries
    ]
    return ", ".join(sorted(found)) or "none"


@contextmanager
def use_blas_threads(n_threads: int) -> Iterator[None]:
    """Let matrix products use this many threads within a `with` block."""
    import scipy.linalg  # noqa: F401  (a library that is loaded within would have its own number)

    with _lock:
        _take_control()
        limit = _libraries().limit(limits=n_threads)
    try:
        yield
    finally:
        with _lock:
            _take_control()
            limit.restore_original_limits()


def _take_control() -> None:
    """Let this thread set the number: recent versions of threadpoolctl ignore all but the first that did."""
    from threadpoolctl import OpenBLASController

    if release := getattr(OpenBLASController, "clear_controlling_thread", None):
        release(force=True)


def _libraries() -> Any:
    """The libraries of matrix products that are loaded."""
    import sys

    return _controller("scipy.linalg" in sys.modules)


@cache
def _controller(with_scipy: bool) -> Any:
    """Looking for libraries takes a millisecond, and SciPy brings one of its own."""
    import threadpoolctl  # type: ignore[import-untyped]

    return threadpoolctl.ThreadpoolController().select(user_api="blas")
