"""Independent jobs: in this process, in several processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.extensions import load_extensions, loaded_extensions
from searchlab.processors import count_processors

T = TypeVar("T")


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
