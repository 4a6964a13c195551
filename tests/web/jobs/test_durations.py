"""Work runs in the event loop only while it is known to be brief."""

import asyncio
import threading
import time

import pytest

from searchlab.web.jobs.durations import MAX_BRIEF_SECONDS, MAX_KINDS, WAITING_WEIGHT, RecentDurations
from searchlab.web.jobs.thread_pools import HEAVY, ThreadPools
from searchlab.web.limits import Limits


def test_work_that_has_never_run_is_not_known_to_be_brief():
    durations = RecentDurations()
    assert not durations.is_brief("search")
    assert durations.run_in_thread("search", lambda: 7) == 7
    assert durations.is_brief("search")
    assert not durations.is_brief("other")


def compute():
    end = time.thread_time() + 2 * MAX_BRIEF_SECONDS
    while time.thread_time() < end:
        pass


def test_one_long_run_sends_the_next_ones_to_threads():
    durations = RecentDurations()
    durations.run_inline("search", compute)
    assert not durations.is_brief("search")
    n_away = 0
    while not durations.is_brief("search"):
        durations.run_in_thread("search", lambda: None)
        n_away += 1
    assert 5 < n_away < 100


def test_in_a_thread_only_processor_time_counts():
    durations = RecentDurations()
    durations.run_in_thread("search", lambda: time.sleep(2 * MAX_BRIEF_SECONDS))
    assert durations.is_brief("search")
    durations.run_in_thread("compute", compute)
    assert not durations.is_brief("compute")


def test_in_the_event_loop_waiting_counts_a_little():
    durations = RecentDurations()
    durations.run_inline("search", lambda: time.sleep(MAX_BRIEF_SECONDS))
    assert durations.is_brief("search")
    durations.run_inline("search", lambda: time.sleep(1.1 * MAX_BRIEF_SECONDS / WAITING_WEIGHT))
    assert not durations.is_brief("search")


def test_exceptions_are_raised_and_timed():
    durations = RecentDurations()
    with pytest.raises(ZeroDivisionError):
        durations.run_in_thread("search", lambda: 1 / 0)
    assert durations.is_brief("search")


def test_the_number_of_kinds_is_bounded():
    durations = RecentDurations()
    for number in range(3 * MAX_KINDS):
        durations.run_in_thread(number, lambda: None)
    assert len(durations._maxima) <= MAX_KINDS


def test_only_brief_work_runs_in_the_event_loop():
    async def scenario():
        pools = ThreadPools(Limits())
        here = threading.get_ident()
        assert await pools.run(threading.get_ident, kind="search") != here
        assert await pools.run(threading.get_ident, kind="search") == here
        assert await pools.run(threading.get_ident) != here
        assert await pools.run(threading.get_ident, HEAVY, kind="search") != here
        await pools.run(compute, kind="search")
        assert await pools.run(threading.get_ident, kind="search") != here
        pools.close()

    asyncio.run(scenario())
