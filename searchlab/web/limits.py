"""Limits on what one request may ask for, and on how many requests are served at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Upper bounds on requests, and the sizes of the thread pools that serve them.

    `max_rank` is the lowest rank that a result page may show. `max_patterns` bounds the words of a query with a
    wildcard or an edit distance: each is compared with every word of the index. `max_body_bytes` is more than the
    fields of any form can hold, in any script; imports and batches may send `max_import_bytes`. Each pool has a number
    of threads, a number of requests that may wait for them, and the seconds that a request may take, waiting included.
    """

    max_query_length: int = 1000
    max_patterns: int = 20
    max_k: int = 1000
    max_rank: int = 1000
    max_url_bytes: int = 16_000
    max_body_bytes: int = 655_360
    max_import_bytes: int = 32_000_000
    max_upload_bytes: int = 100 * 2**20
    body_seconds: float = 20.0
    quick_threads: int = 4
    quick_waiting: int = 64
    quick_seconds: float = 20.0
    write_threads: int = 2
    heavy_threads: int = 1
    heavy_waiting: int = 16
    slow_threads: int = 1
    slow_waiting: int = 8
    slow_seconds: float = 120.0
