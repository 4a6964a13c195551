"""Past queries, recorded in the background for suggestions."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from searchlab.errors import SearchlabError
from searchlab.judgments.judgment_store import JudgmentStore

MAX_PENDING_QUERIES = 100
# Queries are recorded this long after the first of them, all in one transaction: each would cost a tenth of its page.
GATHERING_SECONDS = 0.2

log = logging.getLogger(__name__)


class QueryHistory:
    """Writes queries in a background thread: no search waits for the disk, and a flood of queries is not recorded."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "searchlab-query-history")
        self._pending: dict[JudgmentStore, list[str]] = {}
        self._n_pending = 0
        self._lock = threading.Lock()
        # Set when pending queries are to be recorded at once.
        self._hurry = threading.Event()
        # Errors already logged since the last query that was recorded.
        self._logged: set[str] = set()

    def add(self, store: JudgmentStore, query: str) -> None:
        """Record a query beside the judgments of an index; returns at once."""
        with self._lock:
            if self._n_pending == MAX_PENDING_QUERIES:
                return
            if not self._n_pending:
                with suppress(RuntimeError):  # the history is closed
                    self._executor.submit(self._record_pending)
            self._n_pending += 1
            self._pending.setdefault(store, []).append(query)

    def flush(self) -> None:
        """Wait until all queries added so far are recorded."""
        self._hurry.set()
        self._executor.submit(lambda: None).result()
        self._hurry.clear()

    def close(self) -> None:
        """Record what is pending, and accept no more."""
        self._hurry.set()
        self._executor.shutdown(wait=True)

    def _record_pending(self) -> None:
        self._hurry.wait(GATHERING_SECONDS)
        with self._lock:
            pending, self._pending, self._n_pending = self._pending, {}, 0
        for store, queries in pending.items():
            self._record(store, queries)

    def _record(self, store: JudgmentStore, queries: list[str]) -> None:
        try:
            store.record_queries(*queries)
            self._logged.clear()
        except SearchlabError as error:
            if str(error) not in self._logged:  # a full disk fails the next query in the same way
                log.warning("queries are not recorded: %s", error)
            self._logged.add(str(error))
