"""A cluster of Dask workers: connecting, running plain functions on it, and what becomes of failures.

    with Cluster("tcp://10.0.0.1:8786") as cluster:
        searchlab.index("/shared/docs.jsonl", "/shared/index", cluster=cluster)

Tasks are functions of searchlab's modules with plain arguments. Dask runs a task again whose worker is lost; what is
wrong with a task itself is raised as on one machine. Results come in the order of the tasks, whichever ends first.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import secrets
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from searchlab.blas_threads import count_blas_threads, use_blas_threads
from searchlab.cluster.cluster_address import ClusterAddress
from searchlab.cluster.local_processes import LocalProcesses
from searchlab.cluster.worker_checks import (
    check_folder,
    check_sources,
    check_versions,
    describe_worker,
    different_version,
    installed_versions,
)
from searchlab.errors import ClusterError, ClusterTimeout, ClusterWarning, SearchlabError, SettingError, warn_caller
from searchlab.extensions import load_extensions, loaded_extensions

if TYPE_CHECKING:
    from distributed import Client, Future

# How long a scheduler may take to answer, and the first worker to come.
CONNECT_SECONDS = 30
WORKER_SECONDS = 60
# How often all workers are asked again if some are lost before they answer.
MAX_QUESTIONS = 10

T = TypeVar("T")


class Cluster:
    """A Dask cluster by its address (see `cluster_address`), to be used as a context manager.

    Entering it connects, and refuses workers whose versions differ; entering it again within is free. TLS certificates
    are those of Dask's configuration.
    """

    def __init__(self, address: str | Path) -> None:
        self.address = ClusterAddress.parse(address)
        self._processes: LocalProcesses | None = None
        self._client: Client | None = None
        self._depth = 0
        self._silence = ExitStack()
        # Calls that are not finished, of all threads.
        self._under_way: dict[int, list[Future]] = {}

    def __repr__(self) -> str:
        return f"Cluster({self.address.text!r})"

    def __enter__(self) -> Cluster:
        if not self._depth:
            try:
                self._connect()
            except BaseException:
                self._disconnect()
                raise
        self._depth += 1
        return self

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._disconnect()

    @property
    def client(self) -> Client:
        """Dask's client, while the cluster is connected."""
        if self._client is None:
            raise ClusterError(f"{self!r} is not connected, expected it in a with statement")
        if self._client.status != "running":  # calls would wait until it is connected again
            raise ClusterError(f"cluster {self.address.text}: the scheduler is lost")
        return self._client

    def _connect(self) -> None:
        try:
            from distributed import Client, Security
        except ImportError:
            raise SettingError("clusters need Dask: pip install 'searchlab[cluster]'") from None
        self._silence.enter_context(_quiet_dask())
        if self.address.needs_certificates and not Security().get_connection_args("client").get("ssl_context"):
            raise SettingError(
                f"cluster {self.address.text} needs certificates: expected distributed.comm.tls.ca-file, "
                "client.cert and client.key in Dask's configuration"
            )
        if self.address.is_exposed:
            warn_caller(
                f"cluster {self.address.text} is reached without TLS: all who reach its ports can run code on it; "
                "see `tls://` in the documentation of clusters",
                ClusterWarning,
            )
        if self.address.n_workers:
            self._processes = LocalProcesses(self.address.n_workers)
        file = self._processes.scheduler_file if self._processes else self.address.scheduler_file
        where = {"scheduler_file": str(file)} if file else {"address": self.address.scheduler}
        with self._report_loss("no scheduler answers"), warnings.catch_warnings():
            # Differences of versions are errors here, see `check_versions`.
            warnings.simplefilter("ignore")
            self._client = Client(
                **where,
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                name="searchlab",
                # Results of other clusters pass through the scheduler: the client may not reach the workers.
                direct_to_workers=self.address.n_workers is not None,
            )
        with self._report_loss(f"no worker came within {WORKER_SECONDS} s"):
            self._client.wait_for_workers(self.address.n_workers or 1, timeout=WORKER_SECONDS)
        check_versions(self._ask_all, loaded_extensions())

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        processes, self._processes = self._processes, None
        with self._silence:
            if client is not None:
                with suppress(Exception):
                    client.close(timeout=2)
            if processes is not None:
                processes.close()

    @property
    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers that are there now, sorted."""
        with self._report_loss("the scheduler is lost"):
            return tuple(sorted(self.client.nthreads()))

    @property
    def smallest_memory(self) -> int | None:
        """The bytes of memory that the worker with the least of it may use; None if no worker has a limit."""
        with self._report_loss("the scheduler is lost"):
            workers = self.client.scheduler_info()["workers"].values()
        return min((worker["memory_limit"] for worker in workers if worker["memory_limit"]), default=None)

    def check_sources(self, paths: Iterable[Path]) -> None:
        """Raise ClusterError unless all workers see these files and folders as they are here."""
        check_sources(self._ask_all, paths)

    def check_folder(self, folder: Path) -> None:
        """Raise ClusterError unless a folder is the same one for all workers, which must be able to write there."""
        check_folder(self._ask_all, folder)

    def _ask_all(self, function: Callable[..., Any], *arguments: Any) -> Mapping[str, Any]:
        """The answers of all workers, or their exceptions; a worker that is lost meanwhile need not answer."""
        answers: Mapping[str, Any] = {}
        with self._report_loss("the scheduler is lost"):
            for _ in range(MAX_QUESTIONS):
                answers = self.client.run(function, *arguments, on_error="return")
                if not any(isinstance(answer, Exception) and _is_loss(answer) for answer in answers.values()):
                    break
        return answers

    def run(
        self,
        function: Callable[..., T],
        calls: Sequence[tuple[Any, ...]],
        *,
        places: Sequence[str] | None = None,
        workers: Sequence[str | None] | None = None,
        on_done: Callable[[int, T], None] = lambda n_done, result: None,
        seconds: float | None = None,
    ) -> list[T]:
        """The results of `function(*call)` for each call, in their order.

        `on_done` is called with the number of calls that are finished, and with the result of the last one. For the
        other arguments see `finish`.
        """
        results: dict[int, T] = {}
        for number, result in self.finish(function, calls, places=places, workers=workers, seconds=seconds):
            results[number] = result
            on_done(len(results), result)
        return [results[number] for number in range(len(calls))]

    def finish(
        self,
        function: Callable[..., T],
        calls: Sequence[tuple[Any, ...]],
        *,
        places: Sequence[str] | None = None,
        workers: Sequence[str | None] | None = None,
        seconds: float | None = None,
    ) -> Iterator[tuple[int, T]]:
        """The number of each call and the result of `function(*call)`, as they are finished.

        If calls fail, the error of the first of them in their order is raised, whichever failed first. Calls with the
        same of the `places` go to the same worker if they can, so that what it has read stays in its memory; `workers`
        names that worker for each call, by its address, None for any. If it is lost, another one takes its calls.
        After `seconds` it is a ClusterTimeout that some are not finished. Calls that are not finished when the
        iteration ends, for whatever reason, are cancelled.
        """
        from distributed import as_completed

        futures: list[Future] = []
        failures: dict[int, Exception] = {}
        done: set[int] = set()
        with self._report_loss("the scheduler is lost"):
            try:
                if places is not None:
                    there = self.workers
                    workers = [choose_worker(place, there) for place in places] if there else None
                futures = self._submit(function, calls, workers)
                self._under_way[id(futures)] = futures
                numbers = {future.key: number for number, future in enumerate(futures)}
                finished = as_completed(
                    futures, loop=self.client.loop, with_results=True, raise_errors=False, timeout=seconds
                )
                for future, answer in finished:
                    number = numbers[future.key]
                    done.add(number)
                    if future.status != "finished":
                        failures[number] = _error_of(future)
                    else:
                        # Or else Dask would run the task again if the worker that has its result were lost.
                        future.release()
                        if isinstance(answer, TaskError):
                            failures[number] = TaskFailed(answer.cause)
                        else:
                            yield number, answer
                    if failures and done.issuperset(range(min(failures))):
                        raise failures[min(failures)]
            except TimeoutError:
                if seconds is None:
                    raise
                found = f"{len(calls) - len(done)} of {len(calls)} tasks were not finished within {seconds:g} s"
                raise ClusterTimeout(f"cluster {self.address.text}: {found}") from None
            finally:
                self._under_way.pop(id(futures), None)
                # Of finished calls this releases the results.
                with suppress(Exception):
                    self.client.cancel(futures, force=True)

    def cancel(self) -> None:
        """Cancel all calls that are under way, in whatever thread; who waits for them gets a ClusterError."""
        for futures in list(self._under_way.values()):
            with suppress(Exception):
                self.client.cancel(futures, force=True)

    def _submit(
        self, function: Callable[..., T], calls: Sequence[tuple[Any, ...]], workers: Sequence[str | None] | None
    ) -> list[Future]:
        name = f"{function.__name__}-{secrets.token_hex(4)}"
        settings = TaskSettings(loaded_extensions(), count_blas_threads(), installed_versions())
        futures = []
        for number, call in enumerate(calls):
            preferred = None if workers is None else workers[number]
            futures.append(
                self.client.submit(
                    run_task,
                    settings,
                    # Dask's scheduler would load the arguments, and open indexes that are among them.
                    pickle.dumps((function, call), pickle.HIGHEST_PROTOCOL),
                    key=f"{name}-{number}",
                    pure=False,
                    workers=preferred,
                    allow_other_workers=preferred is not None,
                )
            )
        return futures

    @contextmanager
    def _report_loss(self, problem: str) -> Iterator[None]:
        """Raise ClusterError for what Dask raises when the scheduler or the workers cannot be reached."""
        try:
            yield
        except (SearchlabError, ImportError, KeyboardInterrupt):
            raise
        except TaskFailed as error:
            raise error.cause from None
        except TimeoutError as error:
            raise ClusterError(f"cluster {self.address.text}: {problem} ({error or 'no answer in time'})") from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                message = "a task has lost one worker after another; did they run out of memory?"
                raise ClusterError(f"cluster {self.address.text}: {message}") from error
            if not _is_loss(error):
                raise
            raise ClusterError(f"cluster {self.address.text}: {problem} ({_first_line(error)})") from error


class TaskError:
    """What a task returns if a user can do something about its failure: a SearchlabError, or one of the system."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class TaskFailed(Exception):
    """Carries the error of a task past the errors of the cluster."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class TaskSettings:
    """What a worker takes over from the client for a task: extensions, and the threads of matrix products.

    `versions` are those of the client, which the worker must have: it may have joined after the others were checked.
    """

    extensions: tuple[str, ...]
    blas_threads: int
    versions: dict[str, str]


# A worker of several threads runs one task after the other: the threads of matrix products are those of the process.
_one_task = threading.Lock()


def run_task(settings: TaskSettings, pickled: bytes) -> Any:
    """Run a task, a pickled function with its arguments, in a worker; returns its result or a TaskError."""
    try:
        with _one_task:
            if different := different_version(settings.versions, installed_versions()):
                raise ClusterError(f"worker {describe_worker()} {different}")
            load_extensions(settings.extensions)
            function, arguments = pickle.loads(pickled)
            with use_blas_threads(settings.blas_threads):
                return function(*arguments)
    except (SearchlabError, OSError, MemoryError) as error:
        return TaskError(error)


def _error_of(future: Future) -> Exception:
    """The exception of a task that failed or was cancelled."""
    try:
        future.result()
    except Exception as error:
        return error
    return ClusterError(f"task {future.key} failed without an error")


def choose_worker(place: str, workers: Sequence[str]) -> str:
    """The worker of a place: the first of `rank_workers`."""
    return rank_workers(place, workers)[0]


def rank_workers(place: str, workers: Sequence[str]) -> list[str]:
    """The workers in the order in which a place prefers them, by a hash of both: few places move when workers change.

    Thaler & Ravishankar, Using name-based mappings to increase hit rates, IEEE/ACM ToN 1998.
    """
    return sorted(
        workers, key=lambda worker: hashlib.blake2b(f"{place}\0{worker}".encode(), digest_size=8).digest(), reverse=True
    )


def as_cluster(cluster: Cluster | str | Path) -> Cluster:
    """A cluster, or the one at an address."""
    if isinstance(cluster, Cluster):
        return cluster
    if not isinstance(cluster, str | Path):
        raise SettingError(f"cluster is {cluster!r}, expected a Cluster or its address")
    return Cluster(cluster)


def _is_loss(error: Exception) -> bool:
    """Whether an exception says that a connection was lost; one of a task is an error in searchlab."""
    from distributed.client import CancelledError
    from distributed.comm import CommClosedError

    lost = (CommClosedError, CancelledError, ConnectionError, OSError)
    closed = isinstance(error, RuntimeError) and "lient" in str(error) and "closed" in str(error)
    return isinstance(error, lost) or closed


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


# How many clusters are connected, and the levels of Dask's loggers before the first of them was.
_n_quiet = 0
_levels: dict[logging.Logger, int] = {}
_quiet_lock = threading.Lock()


@contextmanager
def _quiet_dask() -> Iterator[None]:
    """Silence the logs of Dask's client, in all threads: its errors are raised here, in one line.

    Dask gives some loggers below its own a level and a handler.
    """
    global _n_quiet
    with _quiet_lock:
        _n_quiet += 1
        for name in list(logging.root.manager.loggerDict):
            logger = logging.getLogger(name)
            if name.partition(".")[0] == "distributed" and logger.level and logger not in _levels:
                _levels[logger] = logger.level
                logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        with _quiet_lock:
            _n_quiet -= 1
            if not _n_quiet:
                for logger, level in _levels.items():
                    logger.setLevel(level)
                _levels.clear()
