import random
import tracemalloc

import pytest

from searchlab.indexing.deduplication import docno_table
from searchlab.indexing.deduplication.docno_table import FIRST_CAPACITY, MAX_HASH, DocnoTable


def first_letter(docno):
    return ord(docno[:1] or "a") << 24


# Python's own, and some by which many docnos, or all, have the same hash: at the beginning, at the end, negative.
HASHES = {
    "own": hash,
    "by the first letter": first_letter,
    "all 0": lambda docno: 0,
    "all the last": lambda docno: MAX_HASH,
    "all -1": lambda docno: -1,
    "two neighbours": lambda docno: len(docno) % 2,
    "equal in 32 bits": lambda docno: hash(docno) << 32 | 5,
}


@pytest.mark.parametrize("moved_at_once", [docno_table.MOVED_AT_ONCE, 64])
@pytest.mark.parametrize("hash_docno", HASHES.values(), ids=HASHES)
def test_a_table_numbers_docnos_as_a_dict_does(hash_docno, moved_at_once, monkeypatch):
    monkeypatch.setattr(docno_table, "MOVED_AT_ONCE", moved_at_once)
    choose = random.Random(4)
    n = 20_000 if hash_docno is hash else 250
    if n < FIRST_CAPACITY:
        monkeypatch.setattr(docno_table, "FIRST_CAPACITY", 16)
    table, expected = DocnoTable(hash_docno), {}
    for _ in range(n):
        docno = choose.choice("abß\udc80") + str(choose.randrange(n))
        assert table.find(docno) == expected.get(docno, -1)
        assert (docno in table) == (docno in expected)
        assert table.add(docno) == expected.setdefault(docno, len(expected))
        assert len(table) == len(expected)
    assert len(expected) > n / 3
    assert {docno: table.find(docno) for docno in expected} == expected
    assert table.find("a") == table.find("") == -1


def test_a_docno_takes_little_memory():
    tracemalloc.start()
    table = DocnoTable()
    for number in range(30_000):
        table.add(f"d{number}")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(table) == 30_000
    # A dict of these docnos takes 4 MB.
    assert taken < 30 * 30_000
