"""Columns of the positions of frequent terms (see `storage/term_positions`)."""

from __future__ import annotations

import sys

import numpy as np

from searchlab.array_ranges import offsets_of
from searchlab.indexing.inversion.inversion import MIN_COMPILED_TOKENS
from searchlab.indexing.storage.term_positions import BYTE_AMONG, BYTE_UNIT, SHORT_UNIT, frequent_terms
from searchlab.types import Array


def position_columns(tokens: Array, counts: Array) -> dict[str, Array]:
    """The columns for the tokens of all documents, which are numbers of terms; `counts` has how often each occurs."""
    terms = frequent_terms(counts, len(tokens))
    # For each term the number of its row, -1 for one that is not frequent.
    rows = np.full(len(counts), -1, np.int32)
    rows[terms] = np.arange(len(terms))
    is_short = counts[terms] * BYTE_AMONG < len(tokens)
    largest = np.where(is_short, np.iinfo(SHORT_UNIT).max, np.iinfo(BYTE_UNIT).max)
    if len(tokens) < MIN_COMPILED_TOKENS and "numba" not in sys.modules:
        offsets, units = _encode_with_numpy(tokens, rows, largest)
    else:
        from searchlab.indexing.inversion.inversion_kernel import encode_positions

        offsets, units = encode_positions(tokens, rows, largest)
    return {"positions.terms": terms.astype(np.uint32), "positions.offsets": offsets, "positions": units}


def _encode_with_numpy(tokens: Array, rows: Array, largest: Array) -> tuple[Array, Array]:
    """Where the bytes of each row begin, and the bytes; `rows` has the row of each term, `largest` its largest unit."""
    of_tokens = rows[tokens]
    positions = np.flatnonzero(of_tokens >= 0)
    positions = positions[np.argsort(of_tokens[positions], kind="stable")]
    of_rows = of_tokens[positions]
    distances = np.diff(positions, prepend=0)
    is_first = np.diff(of_rows, prepend=-1) > 0
    distances[is_first] = positions[is_first]
    n_full, rests = np.divmod(distances, largest[of_rows])
    n_units = n_full + 1
    # The last of the units of each distance is its rest.
    units = np.repeat(largest[of_rows], n_units)
    units[np.cumsum(n_units) - 1] = rests
    is_short = largest > np.iinfo(BYTE_UNIT).max
    sizes = np.bincount(of_rows, n_units * (1 + is_short[of_rows]), len(largest))
    pairs = units.astype(SHORT_UNIT).view(np.uint8).reshape(-1, 2)
    used = np.column_stack([np.ones(len(units), bool), np.repeat(is_short[of_rows], n_units)])
    return offsets_of(sizes.astype(np.int64)), pairs[used]
