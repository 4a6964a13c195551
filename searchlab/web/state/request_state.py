"""The state that one request works with."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.searches.saved_searches import SavedSearches
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_index import OpenIndex


class RequestState:
    """One state of the index that a request names, and what all requests share.

    An index may be replaced on disk at any time. So each index is looked up once, when the request first needs it:
    everything in one answer comes from the same state, with the same models and cached results. Without `synonyms`
    words are searched as they are written, also where the server has synonyms.
    """

    def __init__(self, app_state: AppState, index_name: str | None = None, *, synonyms: bool = True) -> None:
        self.limits = app_state.limits
        self.training_jobs = app_state.training_jobs
        self.experiment_jobs = app_state.experiment_jobs
        self.uploads = app_state.uploads
        self.rankings = app_state.rankings
        self.measurements = app_state.measurements
        self.index_names = app_state.indexes.names
        self._app_state = app_state
        self._index_name = index_name
        self._synonyms = synonyms
        self._taken: dict[str, OpenIndex] = {}

    @property
    def index(self) -> OpenIndex:
        """The index that the request names, or else the first one."""
        taken = self._take(self._index_name)
        return taken if self._synonyms else taken.without_synonyms

    @property
    def uses_synonyms(self) -> bool | None:
        """Whether words stand for their synonyms, too; None if the server has no synonyms."""
        return self._synonyms if self._take(self._index_name).engine.has_synonyms else None

    @property
    def all_indexes(self) -> list[OpenIndex]:
        """All indexes that are served."""
        return [self._take(name) for name in self.index_names]

    @property
    def judgments(self) -> JudgmentStore:
        """The judgments beside the index."""
        return self._app_state.judgments(self.index.name)

    @property
    def saved_searches(self) -> SavedSearches:
        """The saved searches beside the index."""
        return self._app_state.saved_searches(self.index.name)

    @cached_property
    def reports(self) -> dict[str, Path]:
        """The reports of experiments, by the names of their folders."""
        return self._app_state.reports

    def take_open_index(self) -> bool:
        """Take the index now if it is open, and searched by this process: all else could take long. Whether it was."""
        index = self._app_state.indexes.current(self._index_name)
        if index is None or index.engine.is_distributed:
            return False
        self.take(index)
        return True

    def take(self, index: OpenIndex) -> None:
        """Take this state of the index that the request names."""
        self._taken[self._key(self._index_name)] = index

    def remember_query(self, query: str) -> None:
        """Record a query for suggestions, in the background."""
        self._app_state.query_history.add(self.judgments, query)

    def _take(self, name: str | None) -> OpenIndex:
        key = self._key(name)
        if key not in self._taken:
            self._taken[key] = self._app_state.indexes.get(key)
        return self._taken[key]

    def _key(self, name: str | None) -> str:
        return name or next(iter(self.index_names), "")
