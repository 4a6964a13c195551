"""The stored fields of a Whoosh segment are what zlib and pickle read."""

import pickle
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.indexing.storage.arrays.string_table import PackedStrings
from searchlab.indexing.whoosh.stored_docnos import stored_docnos


def pieces(docnos) -> list[bytes]:
    stored = stored_docnos(PackedStrings.pack(docnos))
    bounds = stored.offsets.tolist()
    return [stored.blob[begin:end].tobytes() for begin, end in pairwise(bounds)]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60)))
def test_zlib_and_pickle_give_the_docnos_back(docnos):
    assert [pickle.loads(zlib.decompress(piece)) for piece in pieces(docnos)] == [{"docno": each} for each in docnos]


@pytest.mark.parametrize("longest", [255, 256, 70_000])
def test_a_long_docno_is_stored_too(longest):
    docnos = ["a", "b" * longest]
    assert [pickle.loads(zlib.decompress(piece)) for piece in pieces(docnos)] == [{"docno": each} for each in docnos]


def test_the_bytes_are_those_of_a_stream_that_is_not_compressed():
    (piece,) = pieces(["PMID-12"])
    assert piece == zlib.compress(zlib.decompress(piece), 0)
