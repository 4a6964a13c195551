"""Connecting to a scheduler: whether one answers at an address, a client of it, and what is asked of it first.

Dask's client takes an address as it is, and waits for minutes, or fails in ways of its own, if something else is there:
a web server, a worker, a scheduler that talks without TLS. So the address is asked first, within a bounded time.
"""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from searchlab.cluster.worker_answers import INSTALL, missing_module
from searchlab.cluster.worker_versions import different_version, installed_versions
from searchlab.errors import ClusterError, SettingError

if TYPE_CHECKING:
    from distributed import Client

# How long a scheduler may take to answer.
CONNECT_SECONDS = 10.0
# How many workers a task may lose before it is given up. Dask's own value, 3, is for clusters of many users: a task is
# blamed for the loss of its worker whatever else that worker was at.
ALLOWED_FAILURES = 100
# What a scheduler must have as the client has it: it loads the tasks that it passes on, and does no work itself.
SCHEDULER_VERSIONS = ("Python", "searchlab", "searchlab's code", "dask", "distributed")


def connect(address: str, *, direct: bool) -> Client:
    """A client of the scheduler at an address; a `direct` one fetches results from the workers themselves.

    Raises ClusterError if no scheduler answers, or if it has not what it needs.
    """
    from distributed import Client, Security

    class ClosedClient(Client):  # type: ignore[misc]
        """A client that is closed if it cannot be started: nobody else could."""

        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self.close(timeout=2)
                raise

    security = Security()
    require_scheduler(address, security.get_connection_args("client"))
    try:
        with warnings.catch_warnings():
            # Differences of versions are errors here.
            warnings.simplefilter("ignore")
            client = ClosedClient(
                address,
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                name="searchlab",
                security=security,
                # Results of other clusters pass through the scheduler: the client may not reach the workers.
                direct_to_workers=direct,
            )
    except Exception as error:
        raise ClusterError(f"no Dask scheduler answers at {address} ({first_line(error)})") from error
    try:
        _prepare(client)
    except BaseException:
        client.close(timeout=2)
        raise
    return client


def require_scheduler(address: str, connection: Mapping[str, Any]) -> None:
    """Raise ClusterError unless a scheduler answers at an address, within CONNECT_SECONDS; `connection` is for TLS."""
    answers: list[str | BaseException] = []

    def ask() -> None:
        try:
            answers.append(asyncio.run(asyncio.wait_for(_ask_type(address, connection), CONNECT_SECONDS)))
        except BaseException as error:
            answers.append(error)

    # A thread of its own, which may be left behind: looking up the name of a host cannot be interrupted.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    answer = answers[0] if answers else TimeoutError()
    if answer == "Scheduler":
        return
    if isinstance(answer, TimeoutError):
        found = f"no answer within {CONNECT_SECONDS:g} s"
    elif isinstance(answer, BaseException):
        found = first_line(answer)
    else:
        found = f"it is a {answer}"
    raise ClusterError(f"no Dask scheduler answers at {address} ({found})")


async def _ask_type(address: str, connection: Mapping[str, Any]) -> str:
    """What kind of process of Dask answers at an address."""
    from distributed.comm import connect as open_comm

    comm = await open_comm(address, timeout=CONNECT_SECONDS, **connection)
    try:
        await comm.write({"op": "identity", "reply": True})
        answer = await comm.read()
        return str(answer["type"])
    finally:
        comm.abort()


def _prepare(client: Client) -> None:
    """Check the versions of the scheduler, and let tasks lose more workers than its own setting allows."""
    try:
        there = client.run_on_scheduler(prepare_scheduler, ALLOWED_FAILURES)
    except Exception as error:
        if lacking := missing_module(error):
            raise ClusterError(f"the scheduler: {lacking}; {INSTALL}") from error
        raise ClusterError(f"the scheduler does not work with searchlab ({first_line(error)})") from error
    here = installed_versions()
    if different := different_version({name: here[name] for name in SCHEDULER_VERSIONS}, there):
        raise ClusterError(f"the scheduler {different}")


def prepare_scheduler(n_failures: int, dask_scheduler: Any) -> dict[str, str]:
    """In a scheduler: allow tasks to lose this many workers, or more; returns the versions there."""
    dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, n_failures)
    return installed_versions()


def require_certificates(address: str) -> None:
    """Raise SettingError if an address needs certificates, and Dask's configuration has none."""
    from distributed import Security

    if address.startswith("tls://") and not Security().get_connection_args("client").get("ssl_context"):
        raise SettingError(
            f"cluster {address} needs certificates: expected distributed.comm.tls.ca-file, "
            "client.cert and client.key in Dask's configuration"
        )


def is_loss(error: Exception) -> bool:
    """Whether an exception says that a connection was lost; one of a task is an error in searchlab."""
    from distributed.client import CancelledError
    from distributed.comm import CommClosedError

    lost = (CommClosedError, CancelledError, ConnectionError, OSError)
    closed = isinstance(error, RuntimeError) and "lient" in str(error) and "closed" in str(error)
    return isinstance(error, lost) or closed


def first_line(error: BaseException) -> str:
    """What an exception says, in one line."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
