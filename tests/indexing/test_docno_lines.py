"""Docnos as lines: the same as one by one, whatever the shards, the order and the alphabet."""

import numpy as np
import pytest

from searchlab.errors import IndexCorrupt
from searchlab.indexing.docno_kernels import docno_lines
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings


def test_lines_are_in_the_order_of_the_documents():
    tables = [Strings.of(["a", "bb", "über"]), Strings.of([]), Strings.of(["0123456789", "日本"])]
    shards, docs = np.array([2, 0, 0, 2, 0]), np.array([1, 2, 0, 0, 2])
    assert docno_lines(tables, shards, docs).tobytes().decode().split("\n") == [
        "日本",
        "über",
        "a",
        "0123456789",
        "über",
        "",
    ]


def test_no_documents_have_no_lines():
    assert docno_lines([Strings.of(["a"])], np.zeros(0, int), np.zeros(0, int)).tobytes() == b""
    assert docno_lines([], np.zeros(0, int), np.zeros(0, int)).tobytes() == b""


def test_numbers_and_offsets_out_of_range_are_refused_before_compiled_code_reads_them():
    with pytest.raises(IndexError):
        docno_lines([Strings.of(["a"])], np.zeros(1, int), np.ones(1, int))
    with pytest.raises(IndexCorrupt, match="wrong offsets"):
        damaged = Strings(Column(np.zeros(3, np.uint8)), Column(np.array([0, 99])))
        docno_lines([damaged], np.zeros(1, int), np.zeros(1, int))
