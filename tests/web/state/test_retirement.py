"""Replaced states of an index are freed as soon as the last request is done with them."""

import gc
import time
import weakref
from contextlib import suppress
from pathlib import Path

import pytest

from searchlab.records import Document
from searchlab.web.state import open_indexes as open_indexes_module
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.state.retirement import RetiredStates, freeze_startup_objects


class Cycle:
    """An object that only the garbage collector frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def no_collector():
    """Without automatic garbage collections."""
    gc.disable()
    yield
    gc.enable()


def wait_until(true):
    until = time.monotonic() + 20
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def test_unused_objects_are_freed_soon(no_collector):
    retired, state = RetiredStates(first_check=0.01), Cycle()
    gone = weakref.ref(state)
    retired.add(state)
    del state
    assert wait_until(lambda: gone() is None)
    assert wait_until(lambda: len(retired) == 0)


def test_used_objects_are_freed_when_they_are_no_longer_used(no_collector):
    retired, state = RetiredStates(first_check=0.01, interval=0.01), Cycle()
    gone = weakref.ref(state)
    retired.add(state)
    retired.add(other := Cycle())
    time.sleep(0.05)
    assert gone() is state
    assert len(retired) == 2
    del state
    assert wait_until(lambda: gone() is None)
    assert len(retired) == 1
    del other


def test_the_number_of_checks_is_bounded(no_collector):
    retired, staying = RetiredStates(first_check=0.001, interval=0.001, max_checks=3), Cycle()
    retired.add(staying)
    assert wait_until(lambda: len(retired) == 0)
    assert staying is staying.itself


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted by /proc")
def test_the_files_of_replaced_states_are_closed(no_collector, build, tmp_path, monkeypatch):
    monkeypatch.setattr(open_indexes_module, "RetiredStates", lambda: RetiredStates(first_check=0.01, interval=0.01))
    folder = build([Document("a", "Alpha", "alpha")], folder=tmp_path / "it")
    indexes = OpenIndexes([folder])

    def n_open():
        found = []
        for link in Path("/proc/self/fd").iterdir():
            with suppress(OSError):  # the descriptor of the listing itself
                found.append(link.readlink())
        return sum(path.is_relative_to(folder) for path in found)

    assert indexes.get().system("bm25").search("alpha").docnos == ["a"]
    at_first = n_open()
    assert at_first
    for number in range(5):
        build([Document("a", "Alpha", "alpha beta " * number)], folder=folder)
        assert indexes.get().system("bm25").search("alpha").docnos == ["a"]
    assert wait_until(lambda: n_open() <= at_first)


def test_frozen_objects_are_freed_too_and_the_others_stay_frozen(no_collector):
    retired, state = RetiredStates(first_check=0.01, interval=0.01), Cycle()
    gone = weakref.ref(state)
    try:
        freeze_startup_objects()
        retired.add(state)
        del state
        assert wait_until(lambda: gone() is None)
        assert wait_until(lambda: gc.get_freeze_count() > 0)
    finally:
        gc.unfreeze()
