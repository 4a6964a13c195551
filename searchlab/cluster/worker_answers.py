"""Questions to all workers at once: a function that each of them calls, and what they answer."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from searchlab.errors import ClusterError, name_some

INSTALL = "install searchlab[cluster] there"

# Calls a function in every worker, and returns results, or exceptions, by the workers' addresses.
AskAll = Callable[..., Mapping[str, Any]]


def ask_workers(ask_all: AskAll, function: Callable[..., Any], *arguments: Any) -> Iterable[tuple[str, Any]]:
    """The answers of all workers, in the order of their addresses; an exception is raised as ClusterError."""
    answers = sorted(ask_all(function, *arguments).items())
    failed = [worker for worker, answer in answers if isinstance(answer, BaseException)]
    for worker, answer in answers:
        if isinstance(answer, BaseException) and (lacking := missing_module(answer)):
            raise ClusterError(f"worker {name_some(failed)}: {lacking}; {INSTALL}")
        if isinstance(answer, BaseException):
            raise ClusterError(f"worker {worker}: {answer}")
    return answers


def missing_module(error: BaseException) -> str:
    """What an error says of a package that is not installed, if it says so; Dask may send it as the text of another."""
    found = re.search(r"No module named '[\w.]+'", str(error))
    return found[0] if found else ""


def describe_worker() -> str:
    """The address of the worker that runs in this process."""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # a task that a test calls
        return f"process {os.getpid()}"
