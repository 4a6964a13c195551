"""How much may one request ask for?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What is refused beyond: lengths in characters, sizes in bytes, times in seconds.

    `depth` is the lowest rank that pages lead to. A query has `patterns` words with wildcards or a distance at most:
    each is held against all words of the index. `running` requests are worked on at a time and `waiting` may wait for
    their turn, each for `seconds` in all; writes, heavy work, and work that takes long have numbers of their own. The
    body of a request has to arrive within `receiving`.
    """

    query_length: int = 1000
    patterns: int = 20
    k: int = 100
    depth: int = 1000
    address: int = 16_000
    body: int = 65_536
    import_body: int = 32_000_000
    running: int = 4
    waiting: int = 64
    seconds: float = 20.0
    running_writes: int = 2
    running_heavy: int = 1
    waiting_heavy: int = 16
    running_slow: int = 1
    waiting_slow: int = 8
    seconds_slow: float = 120.0
    receiving: float = 20.0
