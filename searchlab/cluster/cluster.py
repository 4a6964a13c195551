"""A cluster of Dask workers: connecting, running plain functions on it, and what becomes of failures.

    with Cluster("tcp://10.0.0.1:8786") as cluster:
        searchlab.index("/shared/docs.jsonl", "/shared/index", cluster=cluster)

Tasks are functions of searchlab's modules with plain arguments. Dask runs a task again whose worker is lost; what is
wrong with a task itself is raised as on one machine. Results come in the order of the tasks, whichever ends first.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from searchlab.blas_threads import count_blas_threads
from searchlab.cluster.cluster_address import ClusterAddress
from searchlab.cluster.connection import connect, first_line, is_loss, require_certificates
from searchlab.cluster.local_processes import LocalProcesses
from searchlab.cluster.quiet_dask import quiet_dask
from searchlab.cluster.tasks import TaskError, TaskFailed, TaskSettings, error_of, hold, pack_calls, run_task
from searchlab.cluster.worker_files import check_contents, check_folder, check_sources
from searchlab.cluster.worker_versions import check_matrix_products, check_versions, installed_versions
from searchlab.errors import ClusterError, ClusterTimeout, ClusterWarning, SearchlabError, SettingError, warn_caller
from searchlab.extensions import loaded_extensions

if TYPE_CHECKING:
    from distributed import Client, Future

# How long the first worker may take to come.
WORKER_SECONDS = 60
# How often it is looked whether work waits because no worker is there; the second time in a row the user is told.
WATCH_SECONDS = 5.0
# How often all workers are asked again if some are lost before they answer.
MAX_QUESTIONS = 10

T = TypeVar("T")

log = logging.getLogger(__name__)


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
        self._lock = threading.Lock()
        # The thread that connects again, and what ends the one that watches the workers.
        self._reconnecting: threading.Thread | None = None
        self._ended = threading.Event()

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
            import distributed  # noqa: F401
        except ImportError:
            raise SettingError("clusters need Dask: pip install 'searchlab[cluster]'") from None
        self._silence.enter_context(quiet_dask())
        if self.address.is_exposed:
            warn_caller(
                f"cluster {self.address.text} is reached without TLS: all who reach its ports can run code on it; "
                "see `tls://` in the documentation of clusters",
                ClusterWarning,
            )
        if self.address.n_workers:
            self._processes = LocalProcesses(self.address.n_workers)
        self._client = self._open_client()
        with self._report_loss(f"no worker came within {WORKER_SECONDS} s"):
            self._client.wait_for_workers(self.address.n_workers or 1, timeout=WORKER_SECONDS)
        check_versions(self._ask_all, loaded_extensions())
        if different := check_matrix_products(self._ask_all):
            warn_caller(f"cluster {self.address.text}: {different}", ClusterWarning)
        self._ended = threading.Event()
        threading.Thread(target=self._watch, args=(self._ended,), daemon=True, name="searchlab-cluster").start()

    def _open_client(self) -> Client:
        """A client of the scheduler that is at the address now."""
        address = self.address if self._processes is None else ClusterAddress.parse(self._processes.scheduler_file)
        require_certificates(address.scheduler_address)
        try:
            return connect(address.scheduler_address, direct=self._processes is not None)
        except ClusterError as error:
            raise ClusterError(f"cluster {self.address.text}: {error}") from error.__cause__

    def reconnect(self) -> None:
        """If Dask has given the scheduler up, begin to look for it again, in a thread of its own."""
        with self._lock:
            if self._client is None or self._client.status != "closed" or self._reconnecting is not None:
                return
            self._reconnecting = threading.Thread(target=self._replace_client, args=(self._client,), daemon=True)
            self._reconnecting.start()

    def _replace_client(self, lost: Client) -> None:
        client = None
        try:
            client = self._open_client()
            with self._lock:
                if self._client is lost:
                    self._client, client = client, lost
            check_versions(self._ask_all, loaded_extensions())
        except SearchlabError as error:
            log.warning("%s", error)
        finally:
            self._reconnecting = None
            if client is not None:
                with suppress(Exception):
                    client.close(timeout=2)

    def _watch(self, ended: threading.Event) -> None:
        """Say that work waits for a worker, once each time that the last one has gone."""
        n_without = 0
        while not ended.wait(WATCH_SECONDS):
            is_waiting = False
            if self._under_way:
                with suppress(Exception):
                    is_waiting = not self.client.nthreads()
            n_without = n_without + 1 if is_waiting else 0
            if n_without == 2:
                warn_caller(f"cluster {self.address.text}: all workers are gone; waiting for one", ClusterWarning)

    def _disconnect(self) -> None:
        self._ended.set()
        with self._lock:
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

    def check_contents(self, paths: Iterable[Path]) -> None:
        """Raise ClusterError unless these small files have the same content for all workers as here."""
        check_contents(self._ask_all, paths)

    def check_folder(self, folder: Path) -> None:
        """Raise ClusterError unless a folder is the same one for all workers, which must be able to write there."""
        check_folder(self._ask_all, folder)

    def _ask_all(self, function: Callable[..., Any], *arguments: Any) -> Mapping[str, Any]:
        """The answers of all workers, or their exceptions; a worker that is lost meanwhile need not answer."""
        answers: Mapping[str, Any] = {}
        with self._report_loss("the scheduler is lost"):
            for _ in range(MAX_QUESTIONS):
                answers = self.client.run(function, *arguments, on_error="return")
                if not any(isinstance(answer, Exception) and is_loss(answer) for answer in answers.values()):
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
                        failures[number] = error_of(future)
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
        packed, arguments = pack_calls(function, calls)
        shared = [
            self.client.submit(hold, argument, key=f"{name}-argument-{number}", pure=False)
            for number, argument in enumerate(arguments)
        ]
        futures = []
        for number, call in enumerate(packed):
            preferred = None if workers is None else workers[number]
            futures.append(
                self.client.submit(
                    run_task,
                    settings,
                    call,
                    [shared[each] for each in call.shared],
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
            if not is_loss(error):
                raise
            raise ClusterError(f"cluster {self.address.text}: {problem} ({first_line(error)})") from error


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
