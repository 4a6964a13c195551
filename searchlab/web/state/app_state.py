"""The state of the application: all that requests share."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from searchlab.errors import SettingError
from searchlab.experiments.stored_results import experiments_folder
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.judgments.searches.saved_searches import SavedSearches, searches_file
from searchlab.web.jobs.experiment_jobs import ExperimentJobs
from searchlab.web.jobs.training_jobs import TrainingJobs
from searchlab.web.limits import Limits
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.state.query_recorder import QueryHistory
from searchlab.web.state.result_cache import ResultCache
from searchlab.web.uploads.upload_store import Uploads

# The file that an experiment leaves in its folder.
REPORT = "report.html"
# Enough for 4,500 rankings of a thousand documents.
MAX_RANKING_BYTES = 64 * 2**20
MAX_CACHED_MEASUREMENTS = 32


@dataclass(frozen=True)
class AppState:
    """Indexes, judgments, caches, background jobs and limits; `reports_folder` holds the reports of experiments.

    `uploads` takes documents from browsers; each upload becomes one more index.

    Requests do not use it themselves: each takes a `RequestState` of it.
    """

    indexes: OpenIndexes
    training_jobs: TrainingJobs = field(default_factory=TrainingJobs)
    experiment_jobs: ExperimentJobs = field(default_factory=ExperimentJobs)
    limits: Limits = field(default_factory=Limits)
    reports_folder: Path | None = None
    uploads: Uploads | None = None
    query_history: QueryHistory = field(default_factory=QueryHistory)
    rankings: ResultCache = field(default_factory=lambda: ResultCache(MAX_RANKING_BYTES))
    measurements: ResultCache = field(default_factory=lambda: ResultCache(MAX_CACHED_MEASUREMENTS))

    _stores: dict[Path, JudgmentStore] = field(default_factory=dict, init=False, repr=False)
    _searches: dict[Path, SavedSearches] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.experiment_jobs.take_turns_with(self.training_jobs)
        if self.uploads is not None:
            self.uploads.on_index = self.indexes.add
            for index in self.uploads.indexes:  # of earlier servers
                with suppress(SettingError):  # another index of this name is served
                    self.indexes.add(index)

    def judgments(self, index: str | None = None) -> JudgmentStore:
        """The judgments beside an index."""
        folder = self.indexes.folder(index)
        if folder not in self._stores:
            self._stores.setdefault(folder, JudgmentStore(judgments_file(folder)))
        return self._stores[folder]

    def saved_searches(self, index: str) -> SavedSearches:
        """The saved searches beside an index."""
        folder = self.indexes.folder(index)
        if folder not in self._searches:
            self._searches.setdefault(folder, SavedSearches(searches_file(folder)))
        return self._searches[folder]

    @property
    def reports(self) -> dict[str, Path]:
        """The reports that exist now, by the names of their folders beside the indexes and in the folder of reports."""
        folders = [experiments_folder(self.indexes.folder(name)) for name in self.indexes.names]
        folders += [] if self.reports_folder is None else [self.reports_folder]
        return {path.parent.name: path for folder in folders for path in sorted(folder.glob(f"*/{REPORT}"))}

    def close(self) -> None:
        """End all background work, and close files."""
        self.training_jobs.close()
        self.experiment_jobs.close()
        self.query_history.close()
        if self.uploads is not None:
            self.uploads.close()
        for store in list(self._stores.values()):
            store.close()
