"""What does an answer need at hand? The indexes, the judgments beside them, the work in the background, the limits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from searchlab.errors import SearchlabError
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.web.jobs.training_jobs import Jobs
from searchlab.web.limits import Limits
from searchlab.web.state.open_indexes import Shelf

# What an experiment leaves in its folder.
REPORT = "report.html"
# So many queries may wait to be written down.
MOST_UNWRITTEN = 100

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Desk:
    """Everything that requests share; experiments leave their reports in `reports_folder`."""

    shelf: Shelf
    jobs: Jobs = field(default_factory=Jobs)
    limits: Limits = field(default_factory=Limits)
    reports_folder: Path | None = None
    _scribe: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "searchlab-scribe"))
    _unwritten: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MOST_UNWRITTEN))

    # What was told already of queries that could not be kept.
    _told: set[str] = field(default_factory=set)

    @cached_property
    def _stores(self) -> Mapping[str, JudgmentStore]:
        return {name: JudgmentStore(judgments_file(self.shelf.folder(name))) for name in self.shelf.names}

    def store(self, index: str | None = None) -> JudgmentStore:
        """The judgments beside an index."""
        return self._stores[self.shelf.folder(index).name]

    @property
    def reports(self) -> dict[str, Path]:
        """The reports of experiments that there are now, by the names of their folders."""
        if self.reports_folder is None:
            return {}
        return {path.parent.name: path for path in sorted(self.reports_folder.glob(f"*/{REPORT}"))}

    def remember(self, index: str, query: str) -> None:
        """Keep a query for those who begin to type it again; nobody waits for that, and a flood is not kept."""
        if self._unwritten.acquire(blocking=False):
            with suppress(RuntimeError):  # the server is about to end
                self._scribe.submit(self._write_down, index, query)

    def _write_down(self, index: str, query: str) -> None:
        try:
            self.store(index).record_query(query)
            self._told.clear()
        except SearchlabError as error:
            if str(error) not in self._told:  # a disk that is full is full for the next query, too
                log.warning("queries are not kept: %s", error)
            self._told.add(str(error))
        finally:
            self._unwritten.release()

    def close(self) -> None:
        """End what runs in the background, and let go of files."""
        self.jobs.close()
        self._scribe.shutdown(wait=True)
        for store in self._stores.values():
            store.close()
