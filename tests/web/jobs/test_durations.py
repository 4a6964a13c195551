"""Is work done at once only while it is known to be brief?"""

import asyncio
import threading
import time

import pytest

from searchlab.web.jobs.durations import BRIEF, MOST_KINDS, WAITING, Habits
from searchlab.web.jobs.thread_pools import HEAVY, Workers
from searchlab.web.limits import Limits


def test_what_has_never_been_done_is_not_known_to_be_brief():
    habits = Habits()
    assert not habits.is_brief("search")
    assert habits.elsewhere("search", lambda: 7) == 7
    assert habits.is_brief("search")
    assert not habits.is_brief("other")


def toil():
    end = time.thread_time() + 2 * BRIEF
    while time.thread_time() < end:
        pass


def test_one_that_takes_long_sends_those_after_it_away_for_a_while():
    habits = Habits()
    habits.at_once("search", toil)
    assert not habits.is_brief("search")
    n_away = 0
    while not habits.is_brief("search"):
        habits.elsewhere("search", lambda: None)
        n_away += 1
    assert 5 < n_away < 100


def test_in_a_thread_only_its_own_work_counts():
    habits = Habits()
    habits.elsewhere("search", lambda: time.sleep(2 * BRIEF))
    assert habits.is_brief("search")
    habits.elsewhere("toil", toil)
    assert not habits.is_brief("toil")


def test_where_all_wait_with_it_waiting_counts_a_little():
    habits = Habits()
    habits.at_once("search", lambda: time.sleep(BRIEF))
    assert habits.is_brief("search")
    habits.at_once("search", lambda: time.sleep(1.1 * BRIEF / WAITING))
    assert not habits.is_brief("search")


def test_errors_pass_and_count():
    habits = Habits()
    with pytest.raises(ZeroDivisionError):
        habits.elsewhere("search", lambda: 1 / 0)
    assert habits.is_brief("search")


def test_kinds_do_not_fill_the_memory():
    habits = Habits()
    for number in range(3 * MOST_KINDS):
        habits.elsewhere(number, lambda: None)
    assert len(habits._longest) <= MOST_KINDS


def test_brief_work_is_done_where_it_was_asked_for_and_other_work_is_not():
    async def play():
        workers = Workers(Limits())
        here = threading.get_ident()
        assert await workers.do(threading.get_ident, kind="search") != here
        assert await workers.do(threading.get_ident, kind="search") == here
        assert await workers.do(threading.get_ident) != here
        assert await workers.do(threading.get_ident, HEAVY, kind="search") != here
        await workers.do(toil, kind="search")
        assert await workers.do(threading.get_ident, kind="search") != here
        workers.close()

    asyncio.run(play())
