"""Which indexes are served, and what is true of each right now?

An index that has changed on disk is opened anew between two requests; a request that is under way keeps the state that
it began with, which is let go of when the last such request is done. Models lie beside the index: `NAME.model.json` and
the folder `NAME.models`, in which the page keeps what it has trained.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path

from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import InputError, SearchlabError, SettingError
from searchlab.indexing.storage.manifest import MANIFEST
from searchlab.mixtures.scorer_names import DENSE_SCORERS, EVERY_SCORER
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.reranking import Reranker
from searchlab.rankers.systems import EXPANDED, LABELS, MODEL, ModelSystem, ScorerSystem, make_system
from searchlab.retrieval.engine import SearchEngine
from searchlab.topic_models.topic_model_files import FOLDER as TOPICS
from searchlab.topic_models.topic_model_store import list_topics
from searchlab.web.http_errors import NotFound, without_folder
from searchlab.web.state.retirement import Farewell

# The scorers to offer first, the others come in the order of their names.
FIRST = ("bm25", f"bm25{EXPANDED}", "bm25f")
# So many systems of one index are kept ready.
REMEMBERED = 64
# So many seconds after an index could not be opened it is tried again.
RETRY = 2.0

# A file as it is: changed files have another stamp.
Stamp = tuple[int, int, int]

log = logging.getLogger(__name__)


def models_folder(folder: Path) -> Path:
    """Where models for an index are kept that were trained in the page."""
    return folder.with_name(f"{folder.name}.models")


class Opened:
    """One state of one index, ready for requests, and the models that there are for it."""

    def __init__(self, folder: Path, models: Mapping[str, Path], engine: SearchEngine) -> None:
        self.name = folder.name
        self.folder = folder
        self.engine = engine
        self._files = models
        self.system = lru_cache(REMEMBERED)(self._make_system)

    @property
    def generation(self) -> int:
        """Grows with each change of the index."""
        return self.engine.snapshot.manifest.generation

    @cached_property
    def models(self) -> dict[str, Bundle]:
        """The models that can be read, by their names."""
        return {name: bundle for name, bundle in self._read.items() if isinstance(bundle, Bundle)}

    @cached_property
    def unreadable(self) -> dict[str, str]:
        """What is wrong with the other files."""
        return {name: problem for name, problem in self._read.items() if isinstance(problem, str)}

    @cached_property
    def _read(self) -> dict[str, Bundle | str]:
        read: dict[str, Bundle | str] = {}
        for name, path in self._files.items():
            try:
                read[name] = load_bundle(path)
            except InputError as error:  # where the file lies is nobody's business
                read[name] = f"{shown_path(path.name)}: {error.message}"
            except SearchlabError as error:
                read[name] = str(error)
        return read

    @cached_property
    def misfits(self) -> dict[str, str]:
        """The models that are of no use for this index, and why."""
        return {name: told for name, told in ((name, self._misfit(name)) for name in self.models) if told}

    def _misfit(self, name: str) -> str:
        try:
            self._reranker(name)
        except SearchlabError as error:
            return str(error)
        return ""

    def _reranker(self, name: str) -> Reranker:
        return Reranker(self.engine, self.models[name])

    def _make_system(self, name: str) -> ScorerSystem | ModelSystem:
        openers: dict[str, Callable[[], Reranker]] = {known: partial(self._reranker, known) for known in self.models}
        return make_system(self.engine, name, openers)

    def systems(self) -> list[tuple[str, str, str]]:
        """What can be chosen, by name, label and kind: models that fit, then scorers."""
        return self._systems

    @cached_property
    def _systems(self) -> list[tuple[str, str, str]]:
        topics = set(list_topics(self.folder))
        scorers = [name for name in EVERY_SCORER if name not in DENSE_SCORERS or name in topics]
        names = [*FIRST, *(name for name in sorted(scorers, key=LABELS.__getitem__) if name not in FIRST)]
        fitting = [f"{MODEL}{name}" for name in self.models if name not in self.misfits]
        systems = [self.system(name) for name in [*fitting, *names]]
        return [(system.name, system.label, system.kind) for system in systems]


class _Place:
    """One index on the shelf: where it lies, and its latest state."""

    def __init__(self, folder: Path, models: Mapping[str, Path], farewell: Farewell) -> None:
        self.folder = folder
        self._given = models
        watched = (folder / MANIFEST, _own_model(folder), folder / TOPICS, *models.values())
        self._watched, self._models = tuple(map(str, watched)), str(models_folder(folder))
        self._farewell = farewell
        self._lock = threading.Lock()
        self._stamps: tuple[Stamp | None, ...] = ()
        self._opened: Opened | None = None
        # What is wrong with the index on disk, and when it is looked at again; an older state is served until then.
        self._problem = ""
        self._again = 0.0

    @property
    def last(self) -> Opened | None:
        """The state that was served last, whatever is on the disk now."""
        return self._opened

    @property
    def is_current(self) -> bool:
        """Whether nothing has to be opened."""
        return self._opened is not None and self._look() == self._stamps and not self._is_due()

    def latest(self) -> Opened:
        """The state on disk, opened if it is new; while one thread opens it, others go on with what there was."""
        stamps = self._look()
        opened = self._opened
        if opened is not None and stamps == self._stamps and not self._is_due():
            return opened
        if not self._lock.acquire(blocking=opened is None):
            assert opened is not None
            return opened
        try:
            if self._opened is None or stamps != self._stamps or self._is_due():
                before, self._opened = self._opened, self._open(stamps)
                self._stamps = stamps
                if before is not None and before.engine is not self._opened.engine:
                    self._farewell.bid(before.engine)
            return self._opened
        finally:
            self._lock.release()

    def _is_due(self) -> bool:
        return bool(self._problem) and time.monotonic() > self._again

    def _look(self) -> tuple[Stamp | None, ...]:
        """Stamps of all that could change: of the index first. Each request looks, so that this has to be quick."""
        return *map(_stamp, self._watched), *_stamps_within(self._models)

    def _open(self, stamps: tuple[Stamp | None, ...]) -> Opened:
        """The engine stays if only models have changed, or if what is there now cannot be opened: not yet, perhaps."""
        before = self._opened
        models = {"model": _own_model(self.folder)} if _own_model(self.folder).is_file() else {}
        models |= {path.stem: path for path in sorted(models_folder(self.folder).glob("*.json"))} | dict(self._given)
        if before is not None and self._stamps[0] == stamps[0] and not self._problem:
            return Opened(self.folder, models, before.engine)
        try:
            opened = Opened(self.folder, models, _warm(SearchEngine(self.folder)))
        except (SearchlabError, OSError) as error:
            if before is None:
                raise
            if str(error) != self._problem:
                log.warning("serving the last good state: %s", error)
            self._problem, self._again = str(error) or type(error).__name__, time.monotonic() + RETRY
            return before if self._stamps == stamps else Opened(self.folder, models, before.engine)
        self._problem = ""
        return opened


def _warm(engine: SearchEngine) -> SearchEngine:
    """Ask for some word of each shard, so that what is computed once is computed before the first visitor asks."""
    for shard in engine.snapshot.shards:
        words = shard.columns.words
        if len(words):
            _ = engine.search(words[len(words) // 2], k=1)[:1]
    return engine


def _own_model(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.model.json")


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (a Path would take several times as long)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _stamps_within(folder: str) -> tuple[Stamp | None, ...]:
    """The stamps of a folder and of its files, by name: one that is written in its place does not change the folder."""
    try:
        with os.scandir(folder) as entries:
            paths = sorted(entry.path for entry in entries if entry.name.endswith(".json"))
    except OSError:
        return ()
    return _stamp(folder), *map(_stamp, paths)


class Shelf:
    """The indexes that are served, by their names; `models` are files that are offered for all of them."""

    def __init__(self, folders: Sequence[Path], models: Iterable[Path] = ()) -> None:
        files = {path.name.removesuffix(".json").removesuffix(".model"): path for path in models}
        self._places: dict[str, _Place] = {}
        farewell = Farewell()
        for folder in folders:
            if self._places.setdefault(folder.name, _Place(folder, files, farewell)).folder != folder:
                raise SettingError(
                    f"two indexes are called {folder.name}: {self._places[folder.name].folder} and {folder}"
                )
        if not self._places:
            raise SettingError("no index to serve, expected at least one")

    @property
    def names(self) -> tuple[str, ...]:
        """The names; the first is the default."""
        return tuple(self._places)

    def folder(self, name: str | None = None) -> Path:
        """Where an index lies."""
        return self._place(name).folder

    def get(self, name: str | None = None) -> Opened:
        """An index as it is now; the first, if none is named."""
        return self._place(name).latest()

    def is_current(self, name: str | None) -> bool:
        """Whether an index is open as it is on the disk, so that `get` gives it at once."""
        place = self._places.get(name or self.names[0])
        return place is not None and place.is_current

    def last(self, name: str | None = None) -> Opened | None:
        """The state that was served last, without a look at the disk; None if none was yet."""
        return self._place(name).last

    def without_folders(self, message: str) -> str:
        """A message for visitors: files by their names, but not where on this machine they lie."""
        for place in self._places.values():
            message = without_folder(message, place.folder)
        return message

    def _place(self, name: str | None) -> _Place:
        wanted = name or self.names[0]
        if wanted not in self._places:
            raise NotFound(f"there is no index {wanted[:60]!r} here; there is: {', '.join(self.names)}")
        return self._places[wanted]
