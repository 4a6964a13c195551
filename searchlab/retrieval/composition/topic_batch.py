"""Many searches at once: a function of numbered queries, on several threads, and their results as a run.

The compiled kernels release Python's lock, so that threads search at the same time; each search is the same as alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.corpus import Run
from searchlab.corpus.trec.packed_docnos import PackedDocnos
from searchlab.dataframes import objects
from searchlab.errors import DuplicateError, SettingError
from searchlab.processors import count_processors
from searchlab.retrieval.results import Hits
from searchlab.types import Array, Floats, Progress, no_progress

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


class FoundTopics(NamedTuple):
    """What was found for some topics: for each its remarks and number of documents; docnos and scores of all."""

    remarks: tuple[tuple[str, ...], ...]
    counts: Array
    docnos: PackedDocnos | list[str]
    scores: Floats

    @classmethod
    def of(cls, hits: Hits) -> FoundTopics:
        """The hits of one topic."""
        return cls((hits.query.remarks,), np.array([len(hits)]), hits.docno_column, hits.scores)


def make_pipeline_run(qids: Sequence[str], found: Sequence[FoundTopics], *, name: str) -> Run:
    """The run of what was found for all topics, in their order; documents are in order already."""
    if len(set(qids)) < len(qids):
        twice = next(qid for number, qid in enumerate(qids) if qid in qids[:number])
        raise DuplicateError("", f"topic {twice} occurs twice, expected different qids")
    offsets = offsets_of(np.concatenate([np.zeros(0, np.int64), *(part.counts for part in found)]))
    scores = np.concatenate([np.zeros(0), *(part.scores for part in found)])
    return Run(tuple(qids), offsets, _join([part.docnos for part in found]), scores, name)


def _join(columns: Sequence[PackedDocnos | list[str]]) -> PackedDocnos | Array:
    """All docnos: strings, unless those of a part are not."""
    if any(isinstance(column, PackedDocnos) for column in columns):
        packed = [each if isinstance(each, PackedDocnos) else PackedDocnos.pack(each) for each in columns]
        known = [each for each in packed if each is not None]
        if len(known) == len(packed):
            return PackedDocnos.concatenate(known)
    strings = (each.strings() if isinstance(each, PackedDocnos) else each for each in columns)
    return objects(list(chain.from_iterable(strings)))
