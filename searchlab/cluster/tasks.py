"""Tasks: functions of searchlab's modules with plain arguments, as they are sent to workers and run there."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from searchlab.blas_threads import use_blas_threads
from searchlab.cluster.worker_answers import describe_worker
from searchlab.cluster.worker_versions import different_version, installed_versions
from searchlab.errors import ClusterError, SearchlabError, StoreError
from searchlab.extensions import load_extensions

if TYPE_CHECKING:
    from distributed import Future

# An argument of several calls is sent once if it is larger.
MIN_SHARED_BYTES = 100_000


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


@dataclass(frozen=True)
class SharedArgument:
    """Stands for an argument that several calls have in common, by its place among these."""

    number: int


@dataclass(frozen=True)
class PackedCall:
    """A pickled function with its arguments, and the places of the shared arguments among them."""

    pickled: bytes
    shared: tuple[int, ...]


def pack_calls(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> tuple[list[PackedCall], list[bytes]]:
    """Pickled calls, and the pickled large arguments that several of them have in common.

    They are pickled here because Dask's scheduler would load the arguments, and open indexes that are among them.
    """
    counts = Counter(id(argument) for call in calls for argument in call)
    numbers: dict[int, int | None] = {}
    shared: list[bytes] = []
    for argument in (each for call in calls for each in call):
        if counts[id(argument)] > 1 and id(argument) not in numbers:
            pickled = pickle.dumps(argument, pickle.HIGHEST_PROTOCOL)
            is_large = len(pickled) > MIN_SHARED_BYTES
            numbers[id(argument)] = len(shared) if is_large else None
            shared += [pickled] if is_large else []
    packed = []
    for call in calls:
        places = [numbers.get(id(argument)) for argument in call]
        arguments = [
            argument if place is None else SharedArgument(place) for argument, place in zip(call, places, strict=True)
        ]
        pickled = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        packed.append(PackedCall(pickled, tuple(sorted({place for place in places if place is not None}))))
    return packed, shared


def hold(pickled: bytes) -> bytes:
    """A shared argument: a task of its own, so that it is made again if the worker that has it is lost."""
    return pickled


# A worker of several threads runs one task after the other: the threads of matrix products are those of the process.
_one_task = threading.Lock()


def run_task(settings: TaskSettings, call: PackedCall, shared: Sequence[bytes]) -> Any:
    """Run a task in a worker; returns its result or a TaskError."""
    try:
        with _one_task:
            if different := different_version(settings.versions, installed_versions()):
                raise ClusterError(f"worker {describe_worker()} {different}")
            load_extensions(settings.extensions)
            function, arguments = _unpack(call, shared)
            with use_blas_threads(settings.blas_threads):
                return function(*arguments)
    except (SearchlabError, OSError, MemoryError) as error:
        return TaskError(error)


def _unpack(call: PackedCall, shared: Sequence[bytes]) -> tuple[Callable[..., Any], list[Any]]:
    try:
        function, arguments = pickle.loads(call.pickled)
        known = {number: pickle.loads(pickled) for number, pickled in zip(call.shared, shared, strict=True)}
    except StoreError as error:  # of an index that is opened here
        raise type(error)(f"worker {describe_worker()}: {error}") from error
    return function, [known[each.number] if isinstance(each, SharedArgument) else each for each in arguments]


def error_of(future: Future) -> Exception:
    """The exception of a task that failed or was cancelled."""
    try:
        future.result()
    except Exception as error:
        return error
    return ClusterError(f"task {future.key} failed without an error")
