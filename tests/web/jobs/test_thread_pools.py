"""Is too much work refused, and slow work given up, while the rest goes on?"""

import asyncio
import threading

import pytest

from searchlab.web.http_errors import Failure
from searchlab.web.jobs.thread_pools import HEAVY, QUICK, SLOW, WRITE, Workers, count_patterns, lane_for
from searchlab.web.limits import Limits

LIMITS = Limits(running=1, waiting=1, seconds=30, running_slow=1, waiting_slow=0, seconds_slow=0.05)


def test_work_is_done_elsewhere_and_its_errors_come_back():
    async def play():
        workers = Workers(LIMITS)
        assert await workers.do(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await workers.do(lambda: 1 / 0)
        assert await workers.do(lambda: 7) == 7
        workers.close()

    asyncio.run(play())


def test_one_more_than_may_wait_is_refused_and_slow_work_has_places_of_its_own():
    async def play():
        workers, go_on = Workers(LIMITS), threading.Event()
        under_way = [asyncio.ensure_future(workers.do(lambda: go_on.wait(10))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Failure, match="too many requests") as refused:
            await workers.do(lambda: 7)
        assert refused.value.status == 503
        assert await workers.do(lambda: 8, SLOW) == 8
        go_on.set()
        assert await asyncio.gather(*under_way) == [True, True]
        assert await workers.do(lambda: 7) == 7
        workers.close()

    asyncio.run(play())


def test_what_takes_too_long_is_given_up_and_keeps_its_place_until_it_ends():
    async def play():
        workers, go_on = Workers(LIMITS), threading.Event()
        with pytest.raises(Failure, match=r"longer than 0\.05 seconds"):
            await workers.do(lambda: go_on.wait(10), SLOW)
        for _ in range(3):
            await asyncio.sleep(0.01)
            with pytest.raises(Failure, match="too many requests"):
                await workers.do(lambda: 7, SLOW)
        go_on.set()
        for _ in range(200):
            try:
                assert await workers.do(lambda: 7, SLOW) == 7
                break
            except Failure:
                await asyncio.sleep(0.01)
        else:
            pytest.fail("the place was never free again")
        workers.close()

    asyncio.run(play())


@pytest.mark.parametrize("lane", [WRITE, HEAVY, SLOW])
def test_other_work_does_not_keep_searches_waiting(lane):
    async def play():
        workers, go_on = Workers(Limits(running_writes=1, running=1)), threading.Event()
        under_way = asyncio.ensure_future(workers.do(lambda: go_on.wait(10), lane))
        await asyncio.sleep(0)
        assert await workers.do(lambda: 7) == 7
        go_on.set()
        assert await under_way
        workers.close()

    asyncio.run(play())


def test_a_lane_that_is_closed_says_so():
    async def play():
        workers = Workers(LIMITS)
        workers.close()
        with pytest.raises(Failure, match="about to end") as refused:
            await workers.do(lambda: 7)
        assert refused.value.status == 503

    asyncio.run(play())


@pytest.mark.parametrize(
    ("query", "n"),
    [("heart attack", 0), ("heart*", 1), ("*a* b? c~2 d", 3), ("* ~", 2), ("a*b*c?~2", 1), ('"a b"~3', 1), ("", 0)],
)
def test_patterns_are_counted(query, n):
    assert count_patterns(query) == n


def test_where_a_request_is_worked_on():
    assert lane_for({"q": "heart attack"}) == lane_for({}) == lane_for({"q": None}) == QUICK
    assert lane_for({"q": "heart*"}) == lane_for({"q": "a " * 200}) == lane_for({"q": "heart"}, heavy=True) == HEAVY
    assert lane_for({"id": "1"}, writes=True) == WRITE
    assert lane_for({}, writes=True, slow=True) == SLOW
    assert lane_for({"q": "heart*"}, slow=True) == lane_for({}, heavy=True, slow=True) == SLOW
