"""Is a state of an index that is no longer served let go of, and not before the last request is done with it?"""

import gc
import time
import weakref
from contextlib import suppress
from pathlib import Path

import pytest

from searchlab.records import Document
from searchlab.web.state import open_indexes as shelf_module
from searchlab.web.state.open_indexes import Shelf
from searchlab.web.state.retirement import Farewell, settle


class Circle:
    """Something that only the collector of cycles frees."""

    def __init__(self):
        self.own = self


@pytest.fixture
def no_collector():
    """No chance collection may do what is to be done on purpose."""
    gc.disable()
    yield
    gc.enable()


def wait_until(true):
    until = time.monotonic() + 20
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def test_what_nobody_uses_is_freed_soon(no_collector):
    farewell, leaving = Farewell(soon=0.01), Circle()
    gone = weakref.ref(leaving)
    farewell.bid(leaving)
    del leaving
    assert wait_until(lambda: gone() is None)
    assert wait_until(lambda: len(farewell) == 0)


def test_what_is_still_used_is_freed_when_it_is_not_any_more(no_collector):
    farewell, leaving = Farewell(soon=0.01, again=0.01), Circle()
    gone = weakref.ref(leaving)
    farewell.bid(leaving)
    farewell.bid(other := Circle())
    time.sleep(0.05)
    assert gone() is leaving
    assert len(farewell) == 2
    del leaving
    assert wait_until(lambda: gone() is None)
    assert len(farewell) == 1
    del other


def test_what_never_goes_is_not_looked_for_for_ever(no_collector):
    farewell, staying = Farewell(soon=0.001, again=0.001, times=3), Circle()
    farewell.bid(staying)
    assert wait_until(lambda: len(farewell) == 0)
    assert staying is staying.own


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted by /proc")
def test_an_index_that_changes_often_is_not_held_open_many_times(no_collector, build, tmp_path, monkeypatch):
    monkeypatch.setattr(shelf_module, "Farewell", lambda: Farewell(soon=0.01, again=0.01))
    folder = build([Document("a", "Alpha", "alpha")], folder=tmp_path / "it")
    shelf = Shelf([folder])

    def n_open():
        found = []
        for link in Path("/proc/self/fd").iterdir():
            with suppress(OSError):  # the one by which the others are listed
                found.append(link.readlink())
        return sum(path.is_relative_to(folder) for path in found)

    assert shelf.get().system("bm25").search("alpha").docnos == ["a"]
    at_first = n_open()
    assert at_first
    for number in range(5):
        build([Document("a", "Alpha", "alpha beta " * number)], folder=folder)
        assert shelf.get().system("bm25").search("alpha").docnos == ["a"]
    assert wait_until(lambda: n_open() <= at_first)


def test_what_was_settled_is_let_go_of_too_and_the_rest_stays_settled(no_collector):
    farewell, leaving = Farewell(soon=0.01, again=0.01), Circle()
    gone = weakref.ref(leaving)
    try:
        settle()
        farewell.bid(leaving)
        del leaving
        assert wait_until(lambda: gone() is None)
        assert wait_until(lambda: gc.get_freeze_count() > 0)
    finally:
        gc.unfreeze()
