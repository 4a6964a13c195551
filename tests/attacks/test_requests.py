"""Hostile requests and slow connections; `benchmarks/attacks/requests.py` and `slow.py` have longer runs."""

import random

import pytest

from benchmarks.attacks import requests, slow
from benchmarks.attacks.hostile_requests import KINDS, HostileRequest, draw_request

PLAIN = HostileRequest("read", b"GET / HTTP/1.1\r\n\r\n")
FORBIDDEN = HostileRequest("form without CSRF", b"POST /judge HTTP/1.1\r\n\r\n", must_be_refused=True)


def test_no_request_fails_and_the_server_stays_right(tmp_path):
    result = requests.run(tmp_path, 200, seed=1, n_connections=4)
    assert result.failures == []
    assert result.statuses.keys() == set(KINDS)
    assert sum(statuses.total() for statuses in result.statuses.values()) == 200
    assert result.statuses["read"]["200"] > 10


@pytest.mark.parametrize(
    ("request_", "status", "answer", "n_wrong"),
    [
        (PLAIN, "200", b"", 0),
        (PLAIN, "400", b"", 0),
        (PLAIN, "503", b"", 0),
        (PLAIN, "closed", b"", 0),
        (PLAIN, "500", b"", 1),
        (PLAIN, "hang", b"", 1),
        (PLAIN, "200", b"root:x:0:0", 1),
        (FORBIDDEN, "403", b"", 0),
        (FORBIDDEN, "303", b"", 1),
        (FORBIDDEN, "200", b"", 1),
    ],
)
def test_answers_are_judged(request_, status, answer, n_wrong):
    assert len(list(requests.judge_answer(request_, status, answer))) == n_wrong


def test_requests_are_the_same_for_the_same_seed():
    drawn = [[draw_request(random.Random(number), 80) for number in range(60)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert {request.kind for request in drawn[0]} == set(KINDS)


def test_slow_connections_keep_nobody_waiting(tmp_path):
    result = slow.run(tmp_path, n_connections=12, seconds=1.5, rate=10)
    assert result.failures == []
    assert {phase: len(times) for phase, times in result.times.items()} == {"before": 3, "during": 15, "after": 3}
