"""Excess work is rejected and slow work abandoned, without delay for other work."""

import asyncio
import threading

import pytest

from searchlab.web.http_errors import HttpError
from searchlab.web.jobs.thread_pools import HEAVY, QUICK, SLOW, WRITE, ThreadPools, choose_pool, count_patterns
from searchlab.web.limits import Limits

LIMITS = Limits(quick_threads=1, quick_waiting=1, quick_seconds=30, slow_threads=1, slow_waiting=0, slow_seconds=0.05)


def test_work_runs_in_a_thread_and_its_exceptions_are_raised():
    async def scenario():
        pools = ThreadPools(LIMITS)
        assert await pools.run(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            await pools.run(lambda: 1 / 0)
        assert await pools.run(lambda: 7) == 7
        pools.close()

    asyncio.run(scenario())


def test_excess_work_is_rejected_and_slow_work_has_its_own_pool():
    async def scenario():
        pools, go_on = ThreadPools(LIMITS), threading.Event()
        running = [asyncio.ensure_future(pools.run(lambda: go_on.wait(10))) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(HttpError, match="too many requests") as error:
            await pools.run(lambda: 7)
        assert error.value.status == 503
        assert await pools.run(lambda: 8, SLOW) == 8
        go_on.set()
        assert await asyncio.gather(*running) == [True, True]
        assert await pools.run(lambda: 7) == 7
        pools.close()

    asyncio.run(scenario())


def test_slow_work_is_abandoned_and_keeps_its_slot_until_it_ends():
    async def scenario():
        pools, go_on = ThreadPools(LIMITS), threading.Event()
        with pytest.raises(HttpError, match=r"longer than 0\.05 seconds"):
            await pools.run(lambda: go_on.wait(10), SLOW)
        for _ in range(3):
            await asyncio.sleep(0.01)
            with pytest.raises(HttpError, match="too many requests"):
                await pools.run(lambda: 7, SLOW)
        go_on.set()
        for _ in range(200):
            try:
                assert await pools.run(lambda: 7, SLOW) == 7
                break
            except HttpError:
                await asyncio.sleep(0.01)
        else:
            pytest.fail("the slot was never freed")
        pools.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("pool", [WRITE, HEAVY, SLOW])
def test_searches_do_not_wait_for_other_work(pool):
    async def scenario():
        pools, go_on = ThreadPools(Limits(write_threads=1, quick_threads=1)), threading.Event()
        running = asyncio.ensure_future(pools.run(lambda: go_on.wait(10), pool))
        await asyncio.sleep(0)
        assert await pools.run(lambda: 7) == 7
        go_on.set()
        assert await running
        pools.close()

    asyncio.run(scenario())


def test_a_closed_pool_rejects_work():
    async def scenario():
        pools = ThreadPools(LIMITS)
        pools.close()
        with pytest.raises(HttpError, match="shutting down") as error:
            await pools.run(lambda: 7)
        assert error.value.status == 503

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("query", "n"),
    [("heart attack", 0), ("heart*", 1), ("*a* b? c~2 d", 3), ("* ~", 2), ("a*b*c?~2", 1), ('"a b"~3', 1), ("", 0)],
)
def test_patterns_are_counted(query, n):
    assert count_patterns(query) == n


def test_the_pool_depends_on_route_and_query():
    assert choose_pool({"q": "heart attack"}) == choose_pool({}) == choose_pool({"q": None}) == QUICK
    assert (
        choose_pool({"q": "heart*"})
        == choose_pool({"q": "a " * 200})
        == choose_pool({"q": "heart"}, heavy=True)
        == HEAVY
    )
    assert choose_pool({"docno": "1"}, writes=True) == WRITE
    assert choose_pool({}, writes=True, slow=True) == SLOW
    assert choose_pool({"q": "heart*"}, slow=True) == choose_pool({}, heavy=True, slow=True) == SLOW
