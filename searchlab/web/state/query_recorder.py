"""Past queries, recorded in the background for suggestions."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from searchlab.errors import SearchlabError
from searchlab.judgments.judgment_store import JudgmentStore

MAX_PENDING_QUERIES = 100

log = logging.getLogger(__name__)


class QueryHistory:
    """Writes queries in a background thread: no search waits for the disk, and a flood of queries is not recorded."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "searchlab-query-history")
        self._free_slots = threading.Semaphore(MAX_PENDING_QUERIES)
        # Errors already logged since the last query that was recorded.
        self._logged: set[str] = set()

    def add(self, store: JudgmentStore, query: str) -> None:
        """Record a query beside the judgments of an index; returns at once."""
        if self._free_slots.acquire(blocking=False):
            with suppress(RuntimeError):  # the history is closed
                self._executor.submit(self._record, store, query)

    def flush(self) -> None:
        """Wait until all queries added so far are recorded."""
        self._executor.submit(lambda: None).result()

    def close(self) -> None:
        """Record what is pending, and accept no more."""
        self._executor.shutdown(wait=True)

    def _record(self, store: JudgmentStore, query: str) -> None:
        try:
            store.record_query(query)
            self._logged.clear()
        except SearchlabError as error:
            if str(error) not in self._logged:  # a full disk fails the next query in the same way
                log.warning("queries are not recorded: %s", error)
            self._logged.add(str(error))
        finally:
            self._free_slots.release()
