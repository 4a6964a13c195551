"""The indexes that are served, each in its latest state.

Each request compares the stamps of a few files. An index that has changed on disk is opened again, by one thread,
while other requests use the previous state; a request keeps the state that it has taken. Models lie beside the index:
`NAME.model.json` and the folder `NAME.models`, into which the server writes the models that it trains; so does the
default ranker.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from searchlab.cluster.cluster import Cluster
from searchlab.errors import SearchlabError, SettingError
from searchlab.features.latent_semantics.space_record import FOLDER as SPACE
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.rankers.model_store.default_ranker import default_ranker_file
from searchlab.rankers.model_store.model_files import list_model_files, models_folder, trained_model_file
from searchlab.retrieval.distributed.distributed_engine import DistributedEngine
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.query.synonyms import Synonyms
from searchlab.topic_models.topic_model_files import FOLDER as TOPICS
from searchlab.web.http_errors import NoIndex, NotFound, without_folder
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.retirement import RetiredStates
from searchlab.web.state.verification import verify_in_background

# Seconds until an index that could not be opened is tried again.
RETRY_SECONDS = 2.0

# Modification time, size and inode: a file that has changed has another stamp.
FileStamp = tuple[int, int, int]
OpenEngine = Callable[[Path], SearchEngine]

log = logging.getLogger(__name__)


class _WatchedIndex:
    """The folder of one index, and its latest state."""

    def __init__(
        self, folder: Path, models: Mapping[str, Path], retired: RetiredStates, open_engine: OpenEngine
    ) -> None:
        self.folder = folder
        self._open_engine = open_engine
        self._shared_models = models
        beside = (trained_model_file(folder), default_ranker_file(folder))
        watched = (folder / MANIFEST, *beside, folder / TOPICS, folder / SPACE, *models.values())
        self._watched_files, self._models_folder = tuple(map(str, watched)), str(models_folder(folder))
        self._retired = retired
        self._lock = threading.Lock()
        self._stamps: tuple[FileStamp | None, ...] = ()
        self._latest: OpenIndex | None = None
        # The error of the last attempt to open, and when to try again; the previous state is served until then.
        self._problem = ""
        self._retry_at = 0.0

    @property
    def last_opened(self) -> OpenIndex | None:
        """The state opened last, whatever is on disk now."""
        return self._latest

    @property
    def current(self) -> OpenIndex | None:
        """The state on disk, if it is open already."""
        return self._latest if self._is_current(self._read_stamps()) else None

    def latest(self) -> OpenIndex:
        """The state on disk; while one thread opens it, other threads get the previous state."""
        stamps = self._read_stamps()
        latest = self._latest
        if latest is not None and self._is_current(stamps):
            return latest
        if not self._lock.acquire(blocking=latest is None):
            assert latest is not None
            return latest
        try:
            if self._latest is None or not self._is_current(stamps):
                previous, self._latest = self._latest, self._open(stamps)
                self._stamps = stamps
                if previous is not None and previous.engine is not self._latest.engine:
                    self._retired.add(previous.engine)
            return self._latest
        finally:
            self._lock.release()

    def _is_current(self, stamps: tuple[FileStamp | None, ...]) -> bool:
        return stamps == self._stamps and not (self._problem and time.monotonic() > self._retry_at)

    def _read_stamps(self) -> tuple[FileStamp | None, ...]:
        """The stamps of all files that may change, the manifest first. Each request reads them: this must be fast."""
        return *map(_stamp, self._watched_files), *_stamps_within(self._models_folder)

    def _open(self, stamps: tuple[FileStamp | None, ...]) -> OpenIndex:
        """A new state; it keeps the engine if only models have changed, or if the index cannot be opened now."""
        previous = self._latest
        models = list_model_files(self.folder) | dict(self._shared_models)
        if previous is not None and self._stamps[0] == stamps[0] and not self._problem:
            return OpenIndex(self.folder, models, previous.engine)
        try:
            opened = OpenIndex(self.folder, models, self._open_engine(self.folder))
        except (SearchlabError, OSError) as error:
            if previous is None:
                raise
            if str(error) != self._problem:
                log.warning("serving the previous state of the index: %s", error)
            self._problem = str(error) or type(error).__name__
            self._retry_at = time.monotonic() + RETRY_SECONDS
            return previous if self._stamps == stamps else OpenIndex(self.folder, models, previous.engine)
        self._problem = ""
        if not opened.engine.is_distributed:  # one that is may be too large to be read by this machine
            verify_in_background(opened.engine.snapshot)
        return opened


def local_engines(synonyms: Synonyms | None = None) -> OpenEngine:
    """What opens engines that search in this process."""
    return lambda folder: _warm_up(SearchEngine(folder, synonyms=synonyms))


def distributed_engines(cluster: Cluster, seconds: float, synonyms: Synonyms | None = None) -> OpenEngine:
    """What opens engines whose shards are searched by the workers of a cluster, which must answer within `seconds`."""

    def open_engine(folder: Path) -> SearchEngine:
        cluster.check_contents([folder / MANIFEST])
        engine = SearchEngine(folder, synonyms=synonyms)
        # Workers take their time to open their shards first.
        patient = DistributedEngine(engine, cluster)
        _warm_up(patient, n_shards=1)
        patient.end_requests()
        return DistributedEngine(engine, cluster, seconds)

    return open_engine


def _warm_up(engine: SearchEngine, n_shards: int | None = None) -> SearchEngine:
    """Search for a word of some shards, by default of each, so that values computed lazily are there for requests."""
    for shard in engine.snapshot.shards[:n_shards]:
        words = shard.columns.words
        if len(words):
            _ = engine.search(words[len(words) // 2], k=1)[:1]
    return engine


def _stamp(path: str) -> FileStamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (Path.stat takes several times as long)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _stamps_within(folder: str) -> tuple[FileStamp | None, ...]:
    """The stamps of a folder and of its models: a file overwritten in place does not change the folder's stamp."""
    try:
        with os.scandir(folder) as entries:
            paths = sorted(entry.path for entry in entries if entry.name.endswith(".json"))
    except OSError:
        return ()
    return _stamp(folder), *map(_stamp, paths)


class OpenIndexes:
    """The indexes that are served, by name; `models` are files offered for all of them."""

    def __init__(
        self,
        folders: Sequence[Path],
        models: Iterable[Path] = (),
        open_engine: OpenEngine | None = None,
        *,
        may_be_none: bool = False,
    ) -> None:
        """`open_engine` opens the engine of an index, by default one that searches in this process.

        With `may_be_none` the first index may be added later.
        """
        self._shared_models = {path.name.removesuffix(".json").removesuffix(".model"): path for path in models}
        self._open_engine = open_engine or local_engines()
        self._retired = RetiredStates()
        self._watched: dict[str, _WatchedIndex] = {}
        for folder in folders:
            self.add(folder)
        if not self._watched and not may_be_none:
            raise SettingError("no index to serve, expected at least one")

    def add(self, folder: Path) -> None:
        """Serve one more index."""
        known = self._watched.get(folder.name)
        if known is None:
            watched = _WatchedIndex(folder, self._shared_models, self._retired, self._open_engine)
            # A new dict: other threads may be reading the present one.
            self._watched = {**self._watched, folder.name: watched}
        elif known.folder != folder:
            raise SettingError(f"two indexes are called {folder.name}: {known.folder} and {folder}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names; the first is the default. There may be none yet."""
        return tuple(self._watched)

    def folder(self, name: str | None = None) -> Path:
        """The folder of an index."""
        return self._find(name).folder

    def get(self, name: str | None = None) -> OpenIndex:
        """The state of an index on disk, opened if necessary; by default of the first index."""
        return self._find(name).latest()

    def current(self, name: str | None = None) -> OpenIndex | None:
        """The state of an index on disk, if it is open already: then `get` takes no time."""
        watched = self._watched.get(name or next(iter(self._watched), ""))
        return None if watched is None else watched.current

    def last_opened(self, name: str | None = None) -> OpenIndex | None:
        """The state opened last, without a look at the disk; None if there is none yet."""
        return self._find(name).last_opened if self._watched else None

    def without_folders(self, message: str) -> str:
        """A message for clients: with the names of files, without the folders of this machine."""
        for watched in self._watched.values():
            message = without_folder(message, watched.folder)
        return message

    def _find(self, name: str | None) -> _WatchedIndex:
        if not self._watched:
            raise NoIndex
        wanted = name or self.names[0]
        if wanted not in self._watched:
            raise NotFound(f"unknown index {wanted[:60]!r}, expected one of {', '.join(self.names)}")
        return self._watched[wanted]
