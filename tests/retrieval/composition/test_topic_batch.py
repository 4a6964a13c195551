"""Searches on several threads: all results in order, errors and interruptions at once."""

import threading

import pytest

from searchlab.errors import SettingError
from searchlab.retrieval.composition.topic_batch import choose_jobs, search_numbered


@pytest.mark.parametrize("jobs", [1, 2, 7])
@pytest.mark.parametrize("n", [0, 1, 8, 50])
def test_results_are_in_order_and_progress_ends_at_all(jobs, n):
    reports = []
    results = search_numbered(
        lambda number: number * number, n, jobs=jobs, progress=lambda *report: reports.append(report)
    )
    assert results == [number * number for number in range(n)]
    assert reports[-1] == ("searching", n, n)
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)


def test_searches_run_at_the_same_time():
    barrier = threading.Barrier(3, timeout=60)
    # Each search waits until two others run: one by one, the first would wait in vain.
    assert search_numbered(lambda number: barrier.wait() in (0, 1, 2), 9, jobs=3) == [True] * 9


@pytest.mark.parametrize("error", [SettingError("bad query"), KeyboardInterrupt()])
@pytest.mark.parametrize("jobs", [1, 3])
def test_after_an_error_nothing_more_is_searched(jobs, error):
    begun = []

    def search(number):
        begun.append(number)
        if number == 3:
            raise error
        return number

    with pytest.raises(type(error)):
        search_numbered(search, 100_000, jobs=jobs)
    assert len(begun) < 100_000
    assert threading.active_count() < 20


def test_an_interruption_of_the_caller_ends_the_threads():
    begun = []

    def interrupt(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_numbered(begun.append, 10_000_000, jobs=2, progress=interrupt)
    assert len(begun) < 10_000_000
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("search_")]


def test_the_number_of_threads():
    assert choose_jobs(3) == 3
    assert choose_jobs(None) >= 1
    for wrong in (0, -1, 2.0, "2", True):
        with pytest.raises(SettingError, match="expected a whole number of at least 1, or None"):
            choose_jobs(wrong)
