import sys

import numpy as np
import pytest

from searchlab.errors import IndexCorrupt
from searchlab.indexing.inversion import position_columns as writing
from searchlab.indexing.inversion.inversion_kernel import encode_positions
from searchlab.indexing.inversion.position_columns import position_columns
from searchlab.indexing.storage import term_positions
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.term_positions import TermPositions


def read(tokens, n_terms, columns):
    return TermPositions(
        terms=Column(columns["positions.terms"]),
        offsets=Column(columns["positions.offsets"]),
        units=Column(columns["positions"]),
        counts=Column(np.bincount(tokens, minlength=n_terms)),
        token_offsets=Column(np.array([0, len(tokens)])),
    )


def test_distances_are_units_of_a_byte_or_of_two(monkeypatch):
    # By hand: term 1 is at 0, 1, 256, 1000; the distances are 0, 1, 255, 744 = 2·255 + 234.
    tokens = np.zeros(1001, np.int32)
    tokens[[0, 1, 256, 1000]] = 1
    tokens[700] = 2
    columns = position_columns(tokens, np.bincount(tokens, minlength=4))
    assert columns["positions.terms"].tolist() == [0, 1, 2]
    # Term 2 is less than one token in 256: 700 = 2·256 + 188.
    assert columns["positions"][-9:].tolist() == [0, 1, 255, 0, 255, 255, 234, 188, 2]
    assert np.diff(columns["positions.offsets"])[1:].tolist() == [7, 2]
    # One in 999 tokens is rare if those from one in 500 on are frequent.
    monkeypatch.setattr(term_positions, "FREQUENT_AMONG", 500)
    columns = position_columns(tokens, np.bincount(tokens, minlength=4))
    assert columns["positions.terms"].tolist() == [0, 1]
    assert 1 in (positions := read(tokens, 4, columns))
    assert 2 not in positions
    assert 3 not in positions
    assert positions.of(1).tolist() == [0, 1, 256, 1000]


# NumPy does the same as the compiled loop, which is used where numba is loaded.
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("n_tokens", "n_terms"), [(0, 1), (1, 1), (3000, 2), (5000, 4000), (300_000, 60)])
def test_positions_are_those_of_the_tokens(n_tokens, n_terms, compiled, monkeypatch):
    encode = encode_positions if compiled else writing._encode_with_numpy
    rng = np.random.default_rng(n_tokens)
    # Terms of all frequencies; and a pause of all but one that no unit spans.
    tokens = (n_terms * rng.random(n_tokens) ** 6).astype(np.int32)
    tokens[n_tokens // 4 : n_tokens // 2] = 0
    tokens[n_tokens // 2 : n_tokens // 2 + 255 : 255] = n_terms - 1
    written = []

    def encode_and_note(*arguments):
        written.append(encode(*arguments))
        return written[-1]

    monkeypatch.setattr(writing, "_encode_with_numpy", encode_and_note)
    monkeypatch.setattr(writing, "MIN_COMPILED_TOKENS", 1 << 40)
    monkeypatch.delitem(sys.modules, "numba")
    columns = position_columns(tokens, np.bincount(tokens, minlength=n_terms))
    assert len(written) == 1
    positions = read(tokens, n_terms, columns)
    assert positions.fits()
    assert set(columns["positions.terms"].tolist()) == set(tokens.tolist())
    for term in set(tokens.tolist()):
        assert positions.of(term).tolist() == np.flatnonzero(tokens == term).tolist()


def test_the_documents_of_positions_are_those_that_have_tokens():
    positions = TermPositions(*map(Column, ([], [0], [], [], [0, 0, 2, 2, 5])))
    assert positions.docs_of(np.arange(5)).tolist() == [1, 1, 3, 3, 3]


@pytest.mark.parametrize(
    ("name", "number", "problem"),
    [
        ("positions", 255, "3 positions of term 1, expected 4"),
        ("positions", 254, "beyond the tokens"),
        ("positions.offsets", -1, "wrong offsets"),
        ("positions.offsets", 1 << 62, "wrong offsets"),
    ],
)
def test_positions_that_cannot_be_right_are_damage(name, number, problem):
    tokens = np.array([1, 0, 1, 1, 0, 1], np.int32)
    columns = position_columns(tokens, np.bincount(tokens, minlength=2))
    # The first unit of term 1, or where its bytes begin.
    columns[name][1 if name == "positions.offsets" else 2] = number
    if number == 255:
        columns["positions"][3:6] = 0
    with pytest.raises(IndexCorrupt, match=problem):
        read(np.repeat(tokens, 100) if number == 255 else tokens, 2, columns).of(1)
