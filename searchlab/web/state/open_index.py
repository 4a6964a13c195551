"""One state of one index, with the models that can be used with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import InputError, SearchlabError
from searchlab.rankers.builtin import BUILTIN, load_builtin
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.model_store.default_ranker import DEFAULT, DefaultRanker, read_default_ranker
from searchlab.rankers.reranking import Reranker
from searchlab.rankers.systems import EXPANDED, MODEL, ModelSystem, ScorerSystem, make_system
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.registry import SCORERS
from searchlab.topic_models.topic_model_store import list_topic_models
from searchlab.web.state.verification import verify_in_background

# These scorers are listed first, the others in the order of their labels.
FIRST_SYSTEMS = ("bm25", f"bm25{EXPANDED}", "bm25f")
MAX_CACHED_SYSTEMS = 64

T = TypeVar("T")

log = logging.getLogger(__name__)


class OpenIndex:
    """An index as it was on disk at one moment; it does not change.

    `model_files` are the models offered for the index, by name. They are read when first needed.
    """

    def __init__(self, folder: Path, model_files: Mapping[str, Path], engine: SearchEngine) -> None:
        self.name = folder.name
        self.folder = folder
        self.engine = engine
        self._model_files = model_files
        self._cached: dict[Hashable, Any] = {}
        self.system = lru_cache(MAX_CACHED_SYSTEMS)(self._make_system)

    @cached_property
    def without_synonyms(self) -> OpenIndex:
        """The same state of the index, searched without synonyms."""
        if not self.engine.has_synonyms:
            return self
        return OpenIndex(self.folder, self._model_files, self.engine.without_synonyms())

    @property
    def generation(self) -> int:
        """The generation of the index: it grows with each change."""
        return self.engine.snapshot.manifest.generation

    @cached_property
    def models(self) -> dict[str, Bundle]:
        """The models that could be read, by name."""
        return {name: bundle for name, bundle in self._bundles.items() if isinstance(bundle, Bundle)}

    @cached_property
    def unreadable_models(self) -> dict[str, str]:
        """The error messages of the models that could not be read, by name."""
        return {name: problem for name, problem in self._bundles.items() if isinstance(problem, str)}

    @cached_property
    def _bundles(self) -> dict[str, Bundle | str]:
        """The models of this index, and then the built-in one."""
        bundles: dict[str, Bundle | str] = {}
        for name, path in self._model_files.items():
            try:
                bundles[name] = load_bundle(path)
            except InputError as error:  # without the folder: clients must not learn about this machine
                bundles[name] = f"{shown_path(path.name)}: {error.message}"
            except SearchlabError as error:
                bundles[name] = str(error)
        return {**bundles, BUILTIN: load_builtin()}

    @cached_property
    def unusable_models(self) -> dict[str, str]:
        """The models that do not fit this index, by name, each with the reason."""
        return {name: reason for name in self.models if (reason := self._why_unusable(name))}

    @cached_property
    def usable_models(self) -> tuple[str, ...]:
        """The systems `model:NAME` of the models that fit this index."""
        return tuple(f"{MODEL}{name}" for name in self.models if name not in self.unusable_models)

    def _why_unusable(self, name: str) -> str:
        try:
            self._reranker(name)
        except SearchlabError as error:  # without the folder, as above
            return str(error).replace(str(self.folder), self.name)
        return ""

    def _reranker(self, name: str) -> Reranker:
        return Reranker(self.engine, self.models[name])

    def _open_reranker(self, name: str) -> Reranker:
        """The same for searches, which will read much of what the model needs."""
        reranker = self._reranker(name)
        if not self.engine.is_distributed:
            verify_in_background(reranker)
        return reranker

    @cached_property
    def default_ranker(self) -> DefaultRanker | None:
        """The default ranker that was chosen for this index; None if none was, or if its record cannot be read."""
        try:
            return read_default_ranker(self.folder)
        except SearchlabError as error:
            log.warning("no default ranker: %s", error)
            return None

    @cached_property
    def default_system(self) -> str:
        """The name of the system that searches use unless another one is asked for."""
        return FIRST_SYSTEMS[0] if self.default_ranker is None or self.default_problem else self.default_ranker.system

    @cached_property
    def default_problem(self) -> str:
        """Why the default ranker cannot be used; empty if it can, or if none was chosen."""
        if self.default_ranker is None:
            return ""
        try:
            _ = self.system(self.default_ranker.system)
        except SearchlabError as error:  # without the folder, as above
            return str(error).replace(str(self.folder), self.name)
        return ""

    def _make_system(self, name: str) -> ScorerSystem | ModelSystem:
        if name == DEFAULT:
            return self.system(self.default_system)
        openers = {known: partial(self._open_reranker, known) for known in self.models}
        return make_system(self.engine, name, openers)

    @cached_property
    def systems(self) -> tuple[tuple[str, str, str], ...]:
        """Name, label and kind of each system on offer: models that fit the index, then scorers."""
        topic_models = set(list_topic_models(self.folder))
        scorers = [name for name, kind in SCORERS.items() if not kind.needs_topic_model or name in topic_models]
        others = sorted((name for name in scorers if name not in FIRST_SYSTEMS), key=lambda name: SCORERS[name].label)
        systems = [self.system(name) for name in (*self.usable_models, *FIRST_SYSTEMS, *others)]
        return tuple((system.name, system.label, system.kind) for system in systems)

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that depends on this state of the index alone, computed once; two threads may both compute it."""
        if key not in self._cached:
            self._cached.setdefault(key, make())
        value: T = self._cached[key]
        return value
