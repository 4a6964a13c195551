import json
import re
import time

import pytest

from searchlab.indexing.storage.manifest import MANIFEST  # type: ignore[attr-defined]


@pytest.fixture
def two_indexes(here, run_cli, monkeypatch):
    """A working folder with the index `small`, and `other`, which has a document less."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert run_cli("index", "small.jsonl", "-i", "indexes/other")[0] == 0
    assert run_cli("delete", "aero", "-i", "other")[0] == 0
    yield here
    monkeypatch.undo()
    time.tzset()


def test_indexes_are_listed_by_name(two_indexes, run_cli):
    code, out, err = run_cli("indexes")
    assert (code, err) == (0, "")
    head, *rows = [re.split(r" {2,}", line) for line in out.splitlines()]
    assert head == ["index", "documents", "shards", "size", "changed"]
    assert [row[:4] for row in rows] == [["other", "2", "1", "0.0 MB"], ["small", "3", "1", "0.0 MB"]]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", row[4]) for row in rows)


def test_indexes_are_listed_as_json(two_indexes, run_cli):
    code, out, _ = run_cli("indexes", "--json")
    other, small = json.loads(out)
    manifest = json.loads((two_indexes / "indexes" / "small" / MANIFEST).read_text())
    assert code == 0
    assert (small["name"], small["folder"], small["n_docs"], small["n_shards"]) == ("small", "indexes/small", 3, 1)
    assert (small["written"], other["n_docs"]) == (manifest["written"], 2)
    assert small["n_bytes"] > 0


def test_without_an_index_it_says_how_to_make_one(tmp_path, run_cli):
    assert run_cli("indexes") == (0, "", "no index in indexes/: `searchlab index SOURCE` makes one\n")
    assert run_cli("indexes", "--json")[1] == "[]\n"


def test_a_damaged_index_does_not_hide_the_others(two_indexes, run_cli):
    (two_indexes / "indexes" / "other" / MANIFEST).write_text("{")
    code, out, err = run_cli("indexes")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["index", "other", "small"]
    assert err.startswith("warning: indexes/other")
