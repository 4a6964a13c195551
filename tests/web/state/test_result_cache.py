"""Results are cached per state of an index, up to a total weight."""

import gc
import weakref

from searchlab.web.state.result_cache import ResultCache


class State:
    """Stands for one state of an index."""


def test_the_least_recently_used_results_are_dropped():
    cache, made = ResultCache(10), []

    def get(key, weight, state=None):
        return cache.get(state or one, key, lambda: made.append(key) or (key, weight), lambda value: value[1])  # type: ignore[func-returns-value]

    one, other = State(), State()
    get("a", 4), get("b", 4), get("a", 4)
    assert made == ["a", "b"]
    get("c", 4)
    assert len(cache) == 2
    get("a", 4), get("c", 4)
    assert made == ["a", "b", "c"]
    get("b", 4)
    assert made == ["a", "b", "c", "b"]
    get("huge", 11), get("huge", 11)
    assert made[4:] == ["huge", "huge"]
    assert get("c", 4, other) == ("c", 4)
    assert made[-1] == "c"


def test_the_cache_does_not_keep_states_alive():
    cache, state = ResultCache(10), State()
    cache.get(state, "a", lambda: 1)
    gone = weakref.ref(state)
    del state
    gc.collect()
    assert gone() is None
    assert cache.get(State(), "a", lambda: 2) == 2
