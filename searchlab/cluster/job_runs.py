"""Independent jobs: in this process, in several processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.extensions import load_extensions, loaded_extensions
from searchlab.processors import count_processors

T = TypeVar("T")


def run_calls(
    function: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    cluster: Cluster | None,
    on_done: Callable[[int], None] = lambda n_done: None,
) -> list[T]:
    """The results of `function(*call)` in the order of the calls, made here, one after the other, or on a cluster.

    `on_done` is called with the number of calls that are finished.
    """
    if cluster is not None:
        return cluster.run(function, list(calls), on_done=lambda n_done, _: on_done(n_done))
    results = []
    for call in calls:
        results.append(function(*call))
        on_done(len(results))
    return results


def finish_jobs(
    function: Callable[..., T],
    calls: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    cluster: Cluster | str | None = None,
) -> Iterator[T]:
    """The results of `function(*call)` as they are finished; `n_jobs` is the number of processes, by default all cores.

    The function is one of a module, and the arguments can be pickled without extensions.
    """
    if cluster is not None:
        with as_cluster(cluster) as connected:
            for _, result in connected.finish(function, calls):
                yield result
        return
    n_processes = min(n_jobs or count_processors(), len(calls))
    if n_processes < 2:
        for call in calls:
            yield function(*call)
        return
    from joblib import Parallel, delayed

    runner = Parallel(n_jobs=n_processes, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    extensions = loaded_extensions()
    yield from runner(delayed(_run_in_process)(extensions, function, call) for call in calls)


def _run_in_process(extensions: Sequence[str], function: Callable[..., T], call: tuple[Any, ...]) -> T:
    load_extensions(extensions)
    return function(*call)
