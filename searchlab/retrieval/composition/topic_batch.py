"""Many searches at once: a function of numbered queries, on several threads, and their results as a run.

The compiled kernels release Python's lock, so that threads search at the same time; each search is the same as alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from searchlab.corpus import Run
from searchlab.errors import DuplicateError, SettingError
from searchlab.processors import count_processors
from searchlab.types import Floats, Progress, no_progress

# Fewer queries than this are searched one by one.
MIN_PARALLEL = 8
PROGRESS_SECONDS = 0.1
STAGE = "searching"

T = TypeVar("T")


def choose_jobs(jobs: int | None) -> int:
    """The number of threads; None is one for each processor that this process may use."""
    if jobs is None:
        return count_processors()
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise SettingError(f"jobs is {jobs!r}, expected a whole number of at least 1, or None for all processors")
    return jobs


def search_numbered(
    search: Callable[[int], T],
    n: int,
    *,
    jobs: int,
    progress: Progress = no_progress,
    stop: Callable[[], None] = lambda: None,
    stage: str = STAGE,
) -> list[T]:
    """The results of `search(0)` to `search(n - 1)`, in this order.

    After an error, or Ctrl-C, each thread ends with the search that it is at; `stop` is called to end these.
    """
    if jobs == 1 or n < MIN_PARALLEL:
        results = []
        for number in range(n):
            progress(stage, number, n)
            results.append(search(number))
        progress(stage, n, n)
        return results
    found: dict[int, T] = {}
    pending = deque(range(n))

    def work() -> None:
        while pending:
            try:
                number = pending.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                found[number] = search(number)
            except BaseException:
                pending.clear()
                raise

    with ThreadPoolExecutor(min(jobs, n), thread_name_prefix="search") as pool:
        futures = {pool.submit(work) for _ in range(min(jobs, n))}
        try:
            while not all(future.done() for future in futures):
                done, _ = wait(futures, PROGRESS_SECONDS, FIRST_EXCEPTION)
                progress(stage, len(found), n)
                if any(future.exception() for future in done):
                    break
        except BaseException:
            stop()
            raise
        finally:
            pending.clear()
    for future in futures:
        future.result()
    progress(stage, n, n)
    return [found[number] for number in range(n)]


def make_pipeline_run(qids: Sequence[str], ranked: Sequence[tuple[list[str], Floats]], *, name: str) -> Run:
    """The run of docnos and scores that are in order already, a pair for each topic."""
    if len(set(qids)) < len(qids):
        twice = next(qid for number, qid in enumerate(qids) if qid in qids[:number])
        raise DuplicateError("", f"topic {twice} occurs twice, expected different qids")
    offsets = np.cumsum([0, *(len(docnos) for docnos, _ in ranked)])
    docnos = np.array([docno for docnos, _ in ranked for docno in docnos], object)
    scores = np.concatenate([np.zeros(0), *(scores for _, scores in ranked)])
    return Run(tuple(qids), offsets, docnos, scores, name)
