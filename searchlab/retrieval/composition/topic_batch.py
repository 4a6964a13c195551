"""Many searches at once: a function of numbered queries, on several threads.

The compiled kernels release Python's lock, so that threads search at the same time; each search is the same as alone.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from searchlab.errors import SettingError
from searchlab.types import Progress, no_progress

# Fewer queries than this are searched one by one.
MIN_PARALLEL = 8
PROGRESS_SECONDS = 0.1
STAGE = "searching"

T = TypeVar("T")


def choose_jobs(jobs: int | None) -> int:
    """The number of threads: by default one for each processor that this process may use."""
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise SettingError(f"jobs is {jobs!r}, expected a whole number of at least 1, or None for all processors")
    return jobs


def search_numbered(search: Callable[[int], T], n: int, *, jobs: int, progress: Progress = no_progress) -> list[T]:
    """The results of `search(0)` to `search(n - 1)`, in this order.

    After an error, or Ctrl-C, each thread ends with the search that it is at.
    """
    if jobs == 1 or n < MIN_PARALLEL:
        results = []
        for number in range(n):
            progress(STAGE, number, n)
            results.append(search(number))
        progress(STAGE, n, n)
        return results
    found: dict[int, T] = {}
    pending = deque(range(n))

    def work() -> None:
        while pending:
            try:
                number = pending.popleft()
            except IndexError:  # another thread took the last one
                return
            found[number] = search(number)

    with ThreadPoolExecutor(min(jobs, n), thread_name_prefix="search") as pool:
        futures = {pool.submit(work) for _ in range(min(jobs, n))}
        try:
            while not all(future.done() for future in futures):
                done, _ = wait(futures, PROGRESS_SECONDS, FIRST_EXCEPTION)
                progress(STAGE, len(found), n)
                if any(future.exception() for future in done):
                    break
        finally:
            pending.clear()
    for future in futures:
        future.result()
    progress(STAGE, n, n)
    return [found[number] for number in range(n)]
