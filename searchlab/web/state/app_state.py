"""The state of the application: all that requests share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.judgments.saved_searches import SavedSearches, searches_file
from searchlab.web.jobs.training_jobs import TrainingJobs
from searchlab.web.limits import Limits
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.state.query_recorder import QueryHistory
from searchlab.web.state.result_cache import ResultCache

# The file that an experiment leaves in its folder.
REPORT = "report.html"
# Enough for 4,500 rankings of a thousand documents.
MAX_RANKING_BYTES = 64 * 2**20
MAX_CACHED_MEASUREMENTS = 32


@dataclass(frozen=True)
class AppState:
    """Indexes, judgments, caches, training jobs and limits; `reports_folder` holds the reports of experiments.

    Requests do not use it themselves: each takes a `RequestState` of it.
    """

    indexes: OpenIndexes
    training_jobs: TrainingJobs = field(default_factory=TrainingJobs)
    limits: Limits = field(default_factory=Limits)
    reports_folder: Path | None = None
    query_history: QueryHistory = field(default_factory=QueryHistory)
    rankings: ResultCache = field(default_factory=lambda: ResultCache(MAX_RANKING_BYTES))
    measurements: ResultCache = field(default_factory=lambda: ResultCache(MAX_CACHED_MEASUREMENTS))

    @cached_property
    def _stores(self) -> Mapping[str, JudgmentStore]:
        return {name: JudgmentStore(judgments_file(self.indexes.folder(name))) for name in self.indexes.names}

    def judgments(self, index: str | None = None) -> JudgmentStore:
        """The judgments beside an index."""
        return self._stores[self.indexes.folder(index).name]

    @cached_property
    def _searches(self) -> dict[str, SavedSearches]:
        return {name: SavedSearches(searches_file(self.indexes.folder(name))) for name in self.indexes.names}

    def saved_searches(self, index: str) -> SavedSearches:
        """The saved searches beside an index."""
        return self._searches[index]

    @property
    def reports(self) -> dict[str, Path]:
        """The reports of experiments that exist now, by the names of their folders."""
        if self.reports_folder is None:
            return {}
        return {path.parent.name: path for path in sorted(self.reports_folder.glob(f"*/{REPORT}"))}

    def close(self) -> None:
        """End all background work, and close files."""
        self.training_jobs.close()
        self.query_history.close()
        for store in self._stores.values():
            store.close()
