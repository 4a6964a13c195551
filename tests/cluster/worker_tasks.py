"""Functions that tests run in workers."""

import os
import resource
import signal
import time
from pathlib import Path

import numpy as np

from searchlab.errors import SettingError


def double(number: int) -> int:
    return 2 * number


def process_of(place: str) -> int:
    return os.getpid()


def refuse(number: int, after: str, done: str) -> int:
    """Odd numbers are refused, when the file `after` is there, if one is named; `done` is made first."""
    if after:
        wait_for(after)
    Path(done).touch()
    if number % 2:
        raise SettingError(f"number is {number}, expected an even one")
    return number


def fail(number: int) -> None:
    raise ZeroDivisionError(f"number {number}")


def write_once(path: str) -> str:
    """Kill this worker the first time, and return the second time."""
    try:
        Path(path).open("x").close()
    except FileExistsError:
        return "second"
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def add_up(table: np.ndarray, other: np.ndarray, number: int) -> int:
    return int(table.sum() + other.sum()) + number


def add_up_once(table: np.ndarray, path: str) -> int:
    """Kill this worker the first time."""
    write_once(path)
    return int(table.sum())


def wait_for(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.01)


def count_executing(dask_worker) -> int:
    """How many tasks a worker is at; asked by `Client.run`."""
    return dask_worker.state.executing_count


def enter_alone(path: str) -> bool:
    """Whether no other task is within this function."""
    try:
        Path(path).open("x").close()
    except FileExistsError:
        return False
    time.sleep(0.02)
    Path(path).unlink()
    return True


def count_faults(n_arrays: int, n_bytes: int) -> int:
    """The pages of memory that the system hands out for arrays that are made one after the other."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(n_arrays):
        np.ones(n_bytes, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
