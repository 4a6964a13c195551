"""Keys of the cache, and entries that a stranger wrote: none runs code, fills the memory or gives a wrong number."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from searchlab import extensions
from searchlab.experiments.cache import Cache, fingerprint, load_run, load_table
from searchlab.records import Ranking


def absurd_array():
    """An array file whose head asks for 65 petabytes."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2**53,)})
    return file.getvalue()


def write_archive(path, **members):
    with zipfile.ZipFile(path, "w", members.pop("compression", zipfile.ZIP_STORED)) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def array_bytes(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


class Evil:
    """A value whose pickle would create a file."""

    def __reduce__(self):
        return os.mkdir, ("ran",)


ABOUT = array_bytes(np.array('{"seconds": 1.0, "names": ["a"]}'))
QIDS, LENGTHS = array_bytes(np.array(["1"])), array_bytes(np.array([1]))
DOCNOS, SCORES = array_bytes(np.array(["d"])), array_bytes(np.array([2.0]))
SOUND = {"about": ABOUT, "qids": QIDS, "lengths": LENGTHS, "docnos": DOCNOS, "scores": SCORES}
HOSTILE_ENTRIES = {
    "pickle": SOUND | {"scores": array_bytes(np.array([Evil()], dtype=object))},
    "pickle as metadata": SOUND | {"about": array_bytes(np.array([Evil()], dtype=object))},
    "65 petabytes": SOUND | {"scores": absurd_array()},
    "compressed": SOUND | {"compression": zipfile.ZIP_DEFLATED},
    "negative lengths": SOUND | {"lengths": array_bytes(np.array([-1]))},
    "overflowing lengths": SOUND | {"lengths": array_bytes(np.array([2**62]))},
    "broken lengths": SOUND | {"lengths": array_bytes(np.array([1.0]))},
    "texts as scores": SOUND | {"scores": array_bytes(np.array(["x"]))},
    "table of scores": SOUND | {"scores": array_bytes(np.zeros((1, 1)))},
    "no scores": {name: content for name, content in SOUND.items() if name != "scores"},
    "deep metadata": SOUND | {"about": array_bytes(np.array("[" * 100_000))},
    "repeated metadata": SOUND | {"about": array_bytes(np.array('{"seconds": 1.0, "seconds": 2.0}'))},
    "list as metadata": SOUND | {"about": array_bytes(np.array("[]"))},
    "no array": SOUND | {"scores": b"x" * 100},
}


@pytest.mark.parametrize("members", HOSTILE_ENTRIES.values(), ids=HOSTILE_ENTRIES)
def test_a_hostile_entry_of_the_cache_is_no_entry(tmp_path, monkeypatch, members):
    monkeypatch.chdir(tmp_path)
    cache = Cache(tmp_path / "cache")
    write_archive(cache.path("run", "k"), **SOUND)
    assert load_run(cache, "k", ["1"]) == ([Ranking("1", ["d"], [2.0])], {"seconds": 1.0, "names": ["a"]})
    for kind in ("run", "features", "scores"):
        write_archive(cache.path(kind, "k"), **members)
    assert load_run(cache, "k", ["1"]) is None
    assert load_table(cache, "k") is None
    assert not Path("ran").exists()


def test_a_pipe_in_the_cache_is_no_entry(tmp_path):
    cache = Cache(tmp_path / "cache")
    os.mkfifo(cache.path("run", "k"))
    assert load_run(cache, "k", ["1"]) is None


@pytest.mark.usefixtures("registered_here")
def test_a_key_changes_with_its_parts_and_with_the_source_of_an_extension():
    keys = [fingerprint("index", {"k1": 1}), fingerprint("index", {"k1": 2})]
    for digest in ("a" * 16, "b" * 16):
        extensions.ORIGINS["scorer", "mine"] = extensions.Origin("my_scorers", digest)
        keys.append(fingerprint("index", {"k1": 1}))
    assert len(set(keys)) == 4
    del extensions.ORIGINS["scorer", "mine"]
    assert fingerprint("index", {"k1": 1}) == keys[0]
